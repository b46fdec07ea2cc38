import ThumbnailCore
import Exports
import FolderConversion
import Foundation
import Thumbnailer

/// The files about a conversion: the report, and the contact sheet with the inputs in their order.
actor ConversionFiles {
  /// The longest thumbnail that is shown, in bytes; a longer one is only named.
  private static let longestThumbnail = 64 << 20

  private let options: FolderConverter.Options
  private let report: ReportFile?
  private let isCSV: Bool
  private let pageFile: ReportFile?
  private var page: ConversionSheet
  /// The sheet as one JPEG.
  private let print: SheetFile?
  private var next = 0
  /// Results that arrived out of order. Their thumbnails are read only when drawn, so they take little memory.
  private var waiting: [Int: ConversionResult] = [:]

  /// Creates the requested ones; fails at once if one of them cannot be created.
  ///
  /// - Throws: `ReportFile.Failure`.
  init(_ requested: ConvertReportOptions, _ options: FolderConverter.Options) throws {
    self.options = options
    report = try requested.report.map { try ReportFile(path: $0) }
    isCSV = requested.report.map { $0.lowercased().hasSuffix(".csv") } ?? false
    if isCSV { try report?.write(ConversionLine.csvHeader + "\n") }
    let sheet = requested.sheet.sheet
    let kind = sheet.flatMap { SheetFile.Kind(path: $0) }
    page = ConversionSheet(path: RawPath(sheet ?? ""), outputFolder: options.output)
    pageFile = try kind == .page ? sheet.map { try ReportFile(path: $0) } : nil
    let isolation = options.pipeline.isolation
    print = try kind == .print ? sheet.map { try SheetFile(path: $0, title: "", isolation: isolation) } : nil
    try pageFile?.write(ConversionSheet.head)
  }

  /// Adds an input to each.
  func add(_ result: ConversionResult, _ line: ConversionLine) async throws {
    try report?.write((isCSV ? line.csv : line.json.line) + "\n")
    try pageFile?.write(page.add(result))
    guard print != nil else { return }
    waiting[result.index] = result
    while let result = waiting.removeValue(forKey: next) {
      next += 1
      try await draw(result)
    }
  }

  /// Completes them.
  ///
  /// - Returns: A message about images that the sheet lacks, if any.
  func finish(_ summary: ConversionSummary) async throws -> String? {
    if !isCSV { try report?.write(summary.json(isDryRun: options.isDryRun).summaryLine + "\n") }
    try report?.finish()
    try pageFile?.write(page.finish(summary))
    try pageFile?.finish()
    try await drawRest()
    return try await print?.finish(pictures: summary.converted + summary.current, failed: summary.failed)
  }

  /// Draws the results that are still waiting, in order, which are not all if the run was stopped. A separate function,
  /// because the optimiser of Swift 6.3 crashes if it is part of `finish`.
  @inline(never)
  private func drawRest() async throws {
    for (_, result) in waiting.sorted(by: { $0.key < $1.key }) { try await draw(result) }
  }

  private func draw(_ result: ConversionResult) async throws {
    let name = result.source.description
    switch result.status {
    case .skipped: return
    case .failed: try await print?.add(SheetCell(name: name, failure: result.failure?.message ?? "it failed"))
    case .converted, .current:
      guard let output = result.outputs.first else { return }
      try await print?.add(SheetCell(name: name, pictures: picture(output).map { [$0] } ?? []))
    }
  }

  /// The thumbnail with its bytes; nil if its file is missing or its format unknown.
  private func picture(_ output: ConversionOutput) -> SheetCell.Picture? {
    // As bytes, since file names need not be UTF-8.
    let descriptor = options.output.appending(output.path.bytes).withCString {
      open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    }
    guard descriptor >= 0 else { return nil }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard let data = try? handle.read(upToCount: Self.longestThumbnail), !data.isEmpty else { return nil }
    return SheetCell.Picture(
      size: output.size, byteCount: data.count, content: .embedded(data, output.format ?? .jpeg))
  }
}
