import ArgumentParser
import Foundation

/// A contact sheet of the thumbnails.
struct SheetOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Write a contact sheet with thumbnails, names, sizes and sources, and failures in red: a page of one file (.html), \
      or a picture of the first 1000 (.jpg).
      """, valueName: "FILE"))
  var sheet: String?

  func validate() throws {
    guard let sheet else { return }
    if sheet.isEmpty { throw ValidationError("--sheet is empty: name a file, .html or .jpg") }
    if SheetFile.Kind(path: sheet) == nil {
      throw ValidationError(
        "--sheet \(sheet) cannot be written: contact sheets are pages or pictures; name it .html or .jpg")
    }
  }
}
