import Foundation
import Synchronization
import Thumbnailer

/// The files that are written about a conversion: the report and the contact sheet.
final class ReportFiles: Sendable {
  private let report: ReportFile?
  private let isCSV: Bool
  private let sheetFile: ReportFile?
  private let sheet: Mutex<ConversionSheet>

  /// Makes those that are asked for.
  init(_ options: ConvertReportOptions, outputFolder: RawPath) throws {
    report = try options.report.map { try ReportFile(path: $0) }
    isCSV = options.report.map { $0.lowercased().hasSuffix(".csv") } ?? false
    sheetFile = try options.sheet.map { try ReportFile(path: $0) }
    sheet = Mutex(ConversionSheet(path: RawPath(options.sheet ?? ""), outputFolder: outputFolder))
    if isCSV { try report?.write(ConversionLine.csvHeader + "\n") }
    try sheetFile?.write(ConversionSheet.head)
  }

  /// Adds an input to each.
  func add(_ result: ConversionResult, _ line: ConversionLine) throws {
    try report?.write((isCSV ? line.csv : line.json) + "\n")
    if let sheetFile { try sheetFile.write(sheet.withLock { $0.add(result) }) }
  }

  /// Completes them.
  func finish(_ summary: ConversionSummary) throws {
    if !isCSV { try report?.write(summary.json + "\n") }
    try report?.finish()
    guard let sheetFile else { return }
    try sheetFile.write(sheet.withLock { $0.finish(summary) })
    try sheetFile.finish()
  }
}
