import Exports
import Foundation
import DecodeSandbox
import ThumbnailCore
import Thumbnailer

/// The contact sheet of a run: written as images finish, and named once it is complete.
final class SheetFile: Sendable {
  /// The kind of sheet, by the file name extension.
  enum Kind {
    case page, print

    init?(path: String) {
      switch URL(fileURLWithPath: path).pathExtension.lowercased() {
      case "html", "htm": self = .page
      case "jpg", "jpeg": self = .print
      default: return nil
      }
    }
  }

  private enum Target {
    case page(ReportFile)
    case print(ContactPrint)
  }

  private let path: String
  private let target: Target

  /// Starts a sheet; fails at once if the file cannot be created. `isolation` says where pictures on it are decoded.
  ///
  /// - Throws: `ReportFile.Failure`.
  init(path: String, title: String, isolation: DecodeIsolation) throws {
    self.path = path
    if Kind(path: path) == .print {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      if (try? FileState(of: RawPath(path)))?.kind == .folder {
        throw ReportFile.Failure(path: path, SystemFailure(code: EISDIR))
      }
      do throws(ExportError) {
        target = .print(try ContactPrint(scratchFolder: folder, isolation: isolation))
      } catch {
        throw ReportFile.Failure(path: path, reason: error.reason)
      }
    } else {
      let file = try ReportFile(path: path)
      try file.write(ContactSheet.head(title: title))
      target = .page(file)
    }
  }

  /// Whether further images are only counted.
  var isFull: Bool {
    if case .print(let print) = target { print.isFull } else { false }
  }

  /// Adds an image.
  func add(_ cell: SheetCell) async throws {
    var cell = cell
    cell.name = PlainText.line(cell.name)
    cell.failure = cell.failure.map { PlainText.line(PlainText.withShortPaths(Advice.withOptions($0))) }
    switch target {
    case .page(let file): try file.write(ContactSheet.figure(cell))
    case .print(let print): try await writing { () throws(ExportError) in try await print.add(cell) }
    }
  }

  /// Completes the sheet and gives it its name.
  ///
  /// - Returns: A message about images that the sheet lacks, if any.
  func finish(pictures: Int, failed: Int) async throws -> String? {
    let count = pictures.of("picture")
    switch target {
    case .page(let file):
      try file.write(ContactSheet.foot([.init(count), .init("\(failed) failed", isFailure: failed > 0)]))
      try file.finish()
      return nil
    case .print(let print):
      let data = try await writing { () throws(ExportError) in
        try await print.finish("\(count), \(failed) failed")
      }
      try OutputFile.write(data, to: path)
      return print.leftOut == 0
        ? nil : "\(path) shows the first \(ContactPrint.mostCells) pictures; a sheet that ends in .html shows all"
    }
  }

  private func writing<Value>(
    _ work: () async throws(ExportError) -> Value
  ) async throws(ReportFile.Failure) -> Value {
    do throws(ExportError) {
      return try await work()
    } catch {
      throw ReportFile.Failure(path: path, reason: error.reason)
    }
  }
}
