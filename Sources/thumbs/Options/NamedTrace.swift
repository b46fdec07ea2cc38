import ArgumentParser
import Foundation
import Thumbnailer

/// A scroll trace with the name that the user gave.
struct NamedTrace: Sendable {
  let name: String
  let trace: ScrollTrace

  /// The longest file, in bytes: half a million points.
  private static let longestFile = 16 << 20

  /// Finds a built-in trace by its name, or reads a file, once, since it may be a pipe.
  init(option text: String) throws {
    name = text
    if let named = ScrollTrace(named: text) {
      trace = named
      return
    }
    // A `FileHandle` reads pipes, too; from a folder it reads nothing.
    guard let handle = FileHandle(forReadingAtPath: text),
      let file = try? handle.read(upToCount: Self.longestFile + 1) ?? Data()
    else {
      throw ValidationError(
        "neither a file that can be read nor steady:ROWS_PER_S, fling, back-and-forth or jump; give one of these")
    }
    guard file.count <= Self.longestFile else {
      throw ValidationError("the trace is longer than \(ByteSize(bytes: Self.longestFile)); give a shorter one")
    }
    do throws(ScrollTrace.Problem) {
      trace = try ScrollTrace(text: String(decoding: file, as: UTF8.self))
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
