import Exports
import FolderConversion
import Foundation
import Synchronization
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

/// The contact sheet of a conversion as one JPEG, with the inputs in their order.
actor ConversionPrint {
  /// The longest thumbnail that is shown, in bytes; of a longer one only the name is.
  private static let longestThumbnail = 64 << 20

  private let file: SheetFile
  private let outputFolder: RawPath
  private var next = 0
  /// Results that arrived out of order. Their thumbnails are read only when drawn, so they take little memory.
  private var waiting: [Int: ConversionResult] = [:]

  /// Starts a contact sheet; fails at once if the file cannot be created.
  ///
  /// - Throws: `ReportFile.Failure`.
  init(path: String, outputFolder: RawPath, isolation: DecodeIsolation) throws {
    file = try SheetFile(path: path, title: "", isolation: isolation)
    self.outputFolder = outputFolder
  }

  /// Adds a result, and draws all that are next in order.
  func add(_ result: ConversionResult) async throws {
    waiting[result.index] = result
    while let result = waiting.removeValue(forKey: next) {
      next += 1
      try await draw(result)
    }
  }

  /// Draws the remaining results, which are not all if the run was stopped, and completes the file.
  ///
  /// - Returns: A message about what the sheet lacks, if anything.
  func finish(_ summary: ConversionSummary) async throws -> String? {
    try await drawRest()
    return try await file.finish(pictures: summary.converted + summary.current, failed: summary.failed)
  }

  /// Draws the results that are still waiting, in order. A separate function, since the optimiser of Swift 6.3 crashes
  /// if it is part of `finish`.
  @inline(never)
  private func drawRest() async throws {
    for index in waiting.keys.sorted() {
      if let result = waiting.removeValue(forKey: index) { try await draw(result) }
    }
  }

  private func draw(_ result: ConversionResult) async throws {
    let name = result.source.description
    switch result.status {
    case .skipped: return
    case .failed: try await file.add(SheetCell(name: name, failure: result.failure?.message ?? "it failed"))
    case .converted, .current:
      guard let output = result.outputs.first else { return }
      try await file.add(SheetCell(name: name, pictures: picture(output).map { [$0] } ?? []))
    }
  }

  /// The thumbnail with its bytes; nil if its file is missing or its format unknown.
  private func picture(_ output: ConversionOutput) -> SheetCell.Picture? {
    // As bytes, since file names need not be UTF-8.
    let path = (outputFolder.bytes + Array("/".utf8) + output.path.bytes + [0]).map { CChar(bitPattern: $0) }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard let data = try? handle.read(upToCount: Self.longestThumbnail), !data.isEmpty else { return nil }
    return SheetCell.Picture(
      size: output.size, byteCount: data.count, content: .embedded(data, output.format ?? .jpeg))
  }
}
