import FolderConversion
import Foundation
import Synchronization
import DecodeSandbox
import ThumbnailCore
import Thumbnailer

/// The files about a conversion: the report and the contact sheet.
final class ReportFiles: Sendable {
  private let report: ReportFile?
  private let isCSV: Bool
  private let isDryRun: Bool
  private let pageFile: ReportFile?
  private let page: Mutex<ConversionSheet>
  private let print: ConversionPrint?

  /// Creates the requested ones.
  init(_ options: ConvertReportOptions, outputFolder: RawPath, isDryRun: Bool, isolation: DecodeIsolation) throws {
    self.isDryRun = isDryRun
    report = try options.report.map { try ReportFile(path: $0) }
    isCSV = options.report.map { $0.lowercased().hasSuffix(".csv") } ?? false
    if isCSV { try report?.write(ConversionLine.csvHeader + "\n") }
    let sheet = options.sheet.sheet
    page = Mutex(ConversionSheet(path: RawPath(sheet ?? ""), outputFolder: outputFolder))
    let kind = sheet.flatMap { SheetFile.Kind(path: $0) }
    pageFile = try kind == .page ? sheet.map { try ReportFile(path: $0) } : nil
    print = try sheet.flatMap { path in
      try kind == .print ? ConversionPrint(path: path, outputFolder: outputFolder, isolation: isolation) : nil
    }
    try pageFile?.write(ConversionSheet.head)
  }

  /// Adds an input to each.
  func add(_ result: ConversionResult, _ line: ConversionLine) async throws {
    try report?.write((isCSV ? line.csv : line.json.line) + "\n")
    if let pageFile { try pageFile.write(page.withLock { $0.add(result) }) }
    try await print?.add(result)
  }

  /// Completes them.
  ///
  /// - Returns: A message about what the sheet lacks, if anything.
  func finish(_ summary: ConversionSummary) async throws -> String? {
    if !isCSV { try report?.write(summary.json(isDryRun: isDryRun).summaryLine + "\n") }
    try report?.finish()
    if let pageFile {
      try pageFile.write(page.withLock { $0.finish(summary) })
      try pageFile.finish()
    }
    return try await print?.finish(summary)
  }
}
