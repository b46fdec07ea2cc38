import ArgumentParser
import Foundation

/// The reports about a conversion.
struct ConvertReportOptions: ParsableArguments {
  @OptionGroup var output: ReportOptions

  @Option(
    help: ArgumentHelp(
      "Write a line for each input, as CSV where the name ends in .csv, else as --json.", valueName: "FILE"))
  var report: String?

  @OptionGroup var sheet: SheetOptions

  func validate() throws {
    if report == "" { throw ValidationError("--report is empty: name a file") }
  }
}
