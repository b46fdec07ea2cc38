import ArgumentParser
import Foundation
import Thumbnailer

/// A simulated scroll in place of a prefetch of everything.
struct SimulationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Scroll through the pictures as a person would, and report which thumbnails were there on sight: steady:ROWS_PER_S, \
      fling, back-and-forth, jump, or a file of lines “SECONDS ROW”.
      """, valueName: "TRACE"), transform: NamedTrace.init(option:))
  var simulate: NamedTrace?

  @Option(help: ArgumentHelp("Cells side by side, with --simulate. (default: 2)", valueName: "N"))
  var columns: Int?

  @Option(
    help: ArgumentHelp("A cell's size in points, with --simulate. (default: 200x200)", valueName: "WxH"),
    transform: PixelSize.option)
  var cell: PixelSize?

  @Option(help: ArgumentHelp("Device pixels a point, with --simulate. (default: 2)", valueName: "N"))
  var scale: Double?

  @Option(help: ArgumentHelp("Rows of cells in view, with --simulate. (default: 6)", valueName: "N"))
  var rows: Double?

  @Flag(help: "Scroll on as soon as all cells in view have their thumbnails, with --simulate.")
  var asFastAsReady = false

  func validate() throws {
    guard simulate != nil else {
      let given = [
        ("--columns", columns != nil), ("--cell", cell != nil), ("--scale", scale != nil), ("--rows", rows != nil),
        ("--as-fast-as-ready", asFastAsReady),
      ]
      if let (name, _) = given.first(where: \.1) {
        throw ValidationError("\(name) goes with --simulate: give --simulate steady:3, or leave it out")
      }
      return
    }
    try OptionCheck.value("--columns", columns, "give 1 to 1000") { (1...1000).contains($0) }
    try OptionCheck.value("--scale", scale, "give more than 0 and at most 100") { $0 > 0 && $0 <= 100 }
    try OptionCheck.value("--rows", rows, "give more than 0 and at most 1000") { $0 > 0 && $0 <= 1000 }
    do throws(ThumbnailError) { _ = try layout } catch { throw ValidationError("--cell and --scale: \(error.message)") }
  }

  /// The grid.
  var layout: GridLayout {
    get throws(ThumbnailError) {
      let cell = cell ?? PixelSize(200, 200)
      return try GridLayout(
        columns: columns ?? 2, cell: GridSize(Double(cell.width), Double(cell.height)), scale: scale ?? 2)
    }
  }
}

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
