import ArgumentParser
import Foundation

/// What is written about a conversion, and where.
struct ConvertReportOptions: ParsableArguments {
  @OptionGroup var output: ReportOptions

  @Option(
    help: ArgumentHelp(
      "Write a line for each input, as CSV where the name ends in .csv, else as --json.", valueName: "FILE"))
  var report: String?

  @Option(help: ArgumentHelp("Write a contact sheet: a page with all thumbnails, .html.", valueName: "FILE"))
  var sheet: String?

  func validate() throws {
    if report == "" { throw ValidationError("--report is empty: name a file") }
    guard let sheet else { return }
    if sheet.isEmpty { throw ValidationError("--sheet is empty: name a file") }
    let end = URL(fileURLWithPath: sheet).pathExtension.lowercased()
    guard ["html", "htm"].contains(end) else {
      throw ValidationError("--sheet \(sheet) cannot be written: contact sheets are pages; name it .html")
    }
  }
}
