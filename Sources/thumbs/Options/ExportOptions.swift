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
      The exported files' names, of {path}, {name}, {ext}, {oldext}, {width}, {height}, {size} and {hash}. \
      (default: {path}/{name}.{ext}, with several sizes {path}/{name}-{size}.{ext})
      """, valueName: "TEMPLATE"), transform: NamingTemplate.option)
  var name: NamingTemplate?

  @Flag(help: "Replace files that --export finds there.")
  var overwrite = false

  func validate() throws {
    if export == "" { throw ValidationError("--export is empty: name a folder") }
    if export == nil, name != nil { throw ValidationError("--name names exported files: give --export DIR, too") }
    if export == nil, overwrite { throw ValidationError("--overwrite is about exported files: give --export DIR, too") }
  }
}
