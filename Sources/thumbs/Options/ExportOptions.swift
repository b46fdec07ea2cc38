import ArgumentParser
import Exports
import Foundation
import Thumbnailer

/// Files written in addition to the cache, for people to look at.
struct ExportOptions: ParsableArguments {
  @OptionGroup var sheet: SheetOptions

  @Option(help: ArgumentHelp("Write the thumbnails as files, too, into this folder.", valueName: "DIR"))
  var export: String?

  @Option(
    help: ArgumentHelp(
      """
      The names of the files, of {path}, {name}, {ext}, {oldext}, {width}, {height}, {size}, {date} and {hash}. \
      (default: {path}/{name}.{ext}, with several sizes {path}/{name}-{size}.{ext})
      """, valueName: "TEMPLATE"), transform: NamingTemplate.option)
  var name: NamingTemplate?

  @Flag(help: "Replace files that --export finds there.")
  var overwrite = false

  func validate() throws {
    try OptionCheck.notEmpty("--export", export, "a folder")
    if export == nil, name != nil { throw ValidationError("--name names exported files: give --export DIR, too") }
    if export == nil, overwrite { throw ValidationError("--overwrite is about exported files: give --export DIR, too") }
  }
}

/// A contact sheet of the thumbnails.
struct SheetOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write a contact sheet: a page in one file (.html), or a picture of the first 1000 (.jpg).", valueName: "FILE"))
  var sheet: String?

  func validate() throws {
    try OptionCheck.notEmpty("--sheet", sheet, "a file, .html or .jpg")
    if let sheet, SheetFile.Kind(path: sheet) == nil {
      throw ValidationError(
        "--sheet \(sheet) cannot be written: contact sheets are pages or pictures; name it .html or .jpg")
    }
  }
}
