import Exports
import Foundation

/// The contact sheet of a run: written as images finish, and named once it is complete.
final class SheetFile: Sendable {
  private let file: ReportFile

  /// Starts a sheet; fails at once if the file cannot be created.
  ///
  /// - Throws: `FileWriteError`.
  init(path: String, title: String) throws {
    file = try ReportFile(path: path)
    try file.write(ContactSheet.head(title: title))
  }

  /// Whether a sheet can have this name.
  static func isPage(_ path: String) -> Bool {
    ["html", "htm"].contains(URL(fileURLWithPath: path).pathExtension.lowercased())
  }

  /// Adds an image.
  func add(_ cell: SheetCell) throws {
    var cell = cell
    cell.name = PlainText.line(cell.name)
    cell.failure = cell.failure.map { PlainText.line(PlainText.withShortPaths(Advice.withOptions($0))) }
    try file.write(ContactSheet.figure(cell))
  }

  /// Completes the sheet and gives it its name.
  func finish(pictures: Int, failed: Int) throws {
    try file.write(ContactSheet.foot(images: pictures, failed: failed))
    try file.finish()
  }
}
