import Foundation
import Synchronization
import Thumbnailer

/// A text file that grows line by line beside its place and takes it at the end.
final class ReportFile: Sendable {
  /// Why a report could not be written.
  struct Failure: Error {
    let path: String
    let reason: String

    var message: String { "\(path) cannot be written: \(reason); what was converted is kept" }
  }

  let path: String
  private let temporary: String
  private let state: Mutex<(descriptor: Int32, pending: [UInt8])>

  /// Makes the file under a temporary name; a device or a named pipe is written to at once.
  init(path: String) throws(Failure) {
    self.path = path
    var status = stat()
    let exists = stat(path, &status) == 0
    let isPlain = !exists || status.st_mode & S_IFMT == S_IFREG
    temporary = isPlain ? "\(path).tmp" : path
    let descriptor = open(temporary, isPlain ? O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC : O_WRONLY | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Failure(path: path, reason: String(cString: strerror(errno))) }
    state = Mutex((descriptor, []))
  }

  deinit {
    let descriptor = state.withLock(\.descriptor)
    guard descriptor >= 0 else { return }
    close(descriptor)
    if temporary != path { unlink(temporary) }
  }

  /// Appends text as it is.
  func write(_ text: String) throws(Failure) {
    let failure = state.withLock { state -> Int32? in
      state.pending += text.utf8
      return state.pending.count < 64 << 10 ? nil : Self.flush(&state)
    }
    if let failure { throw Failure(path: path, reason: String(cString: strerror(failure))) }
  }

  /// Writes the rest and gives the file its name.
  func finish() throws(Failure) {
    let failure = state.withLock { state -> Int32? in
      if let failure = Self.flush(&state) { return failure }
      close(state.descriptor)
      state.descriptor = -1
      return temporary == path || rename(temporary, path) == 0 ? nil : errno
    }
    if let failure { throw Failure(path: path, reason: String(cString: strerror(failure))) }
  }

  private static func flush(_ state: inout (descriptor: Int32, pending: [UInt8])) -> Int32? {
    var done = 0
    while done < state.pending.count {
      let written = state.pending.withUnsafeBytes {
        Foundation.write(state.descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
      }
      if written < 0 {
        if errno == EINTR { continue }
        return errno
      }
      done += written
    }
    state.pending.removeAll(keepingCapacity: true)
    return nil
  }
}

/// The files that are written about a conversion: the report and the contact sheet.
final class ReportFiles: Sendable {
  private let report: ReportFile?
  private let isCSV: Bool
  private let sheetFile: ReportFile?
  private let sheet: Mutex<ContactSheet>

  /// Makes those that are asked for.
  init(_ options: ConvertReportOptions, outputFolder: RawPath) throws {
    report = try options.report.map { try ReportFile(path: $0) }
    isCSV = options.report.map { $0.lowercased().hasSuffix(".csv") } ?? false
    sheetFile = try options.sheet.map { try ReportFile(path: $0) }
    sheet = Mutex(ContactSheet(path: RawPath(options.sheet ?? ""), outputFolder: outputFolder))
    if isCSV { try report?.write(ConversionLine.csvHeader + "\n") }
    try sheetFile?.write(ContactSheet.head)
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
