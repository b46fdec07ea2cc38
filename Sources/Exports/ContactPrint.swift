public import DecodeSandbox
public import Foundation
import ImageCodec
import Synchronization
import ThumbnailCore

/// A contact sheet as one JPEG: ten thumbnails a row, with name, size and author, and failures in red.
///
/// Memory hardly grows with the number of images. Shows only the first `mostCells` of them, because the size of a JPEG
/// is limited.
public final class ContactPrint: Sendable {
  /// The most images shown. The JPEG then has 1786 × 23,238 pixels and 5 to 10 MB.
  public static let mostCells = 1000

  private struct State {
    var montage: Montage
    var shown = 0
    var leftOut = 0
  }

  private let state: Mutex<State>
  private let folder: String
  /// The helpers that decode the thumbnails, which need not be ours; nil for this process.
  private let helpers: HelperPool?
  private let pool = WorkerPool(name: "thumbnailer.print", threads: 1) { Codec.threadWillEnd() }

  /// An empty contact sheet.
  ///
  /// - Parameters:
  ///   - scratchFolder: The directory of an unnamed temporary file of up to 125 MB.
  ///   - isolation: The process that decodes the shown thumbnails.
  public init(scratchFolder: String, isolation: DecodeIsolation = DecodeIsolation()) throws(ExportError) {
    folder = scratchFolder
    helpers = isolation.isInProcess ? nil : HelperPool(isolation)
    do throws(SystemFailure) {
      state = Mutex(State(montage: Montage(scratch: try FileDescriptor.unnamed(in: scratchFolder))))
    } catch {
      throw ExportError(path: scratchFolder, reason: error.reason)
    }
  }

  /// The number of images beyond `mostCells`.
  public var leftOut: Int { state.withLock(\.leftOut) }

  /// Whether there is no room for further images, which are then only counted.
  public var isFull: Bool { state.withLock { $0.shown >= Self.mostCells } }

  /// Adds an image. Its first thumbnail is shown if its bytes are known and can be read, unless its format is an unsafe one.
  public func add(_ cell: SheetCell) async throws(ExportError) {
    try await onPool { state throws(ExportError) in
      guard state.shown < Self.mostCells else {
        state.leftOut += 1
        return
      }
      state.shown += 1
      do throws(MontageFailure) {
        try state.montage.add(Montage.Cell(cell, picture: self.picture(of: cell)))
      } catch {
        throw self.failed(error)
      }
    }
  }

  /// The pixels of a cell's thumbnail. Nil if it has none that can be read.
  private func picture(of cell: SheetCell) -> Raster? {
    guard let data = cell.pictures.first?.file?.data else { return nil }
    let bytes = [UInt8](data)
    guard let header = try? probe(.memory(bytes)) else { return nil }
    // As PNG it is RGB or gray.
    let variant = Variant(size: Montage.box, fit: .contain, format: .png)
    let request = HelperRequest(header.format, [variant], probe: header)
    return try? request.raster(of: .memory(bytes), in: helpers).flattened(onto: .white)
  }

  /// Returns the JPEG, with `foot` as its last line. To be called once, at the end.
  public func finish(_ foot: String) async throws(ExportError) -> Data {
    try await onPool { state throws(ExportError) in
      let rest = state.leftOut > 0 ? "; \(state.leftOut) more are not shown" : ""
      do throws(MontageFailure) { return try state.montage.finish(foot + rest) } catch { throw self.failed(error) }
    }
  }

  private func failed(_ failure: MontageFailure) -> ExportError {
    switch failure {
    case .file(let failure): failed(failure.reason)
    case .codec(let failure): failed("\(failure)")
    }
  }

  private func failed(_ reason: String) -> ExportError { ExportError(path: folder, reason: reason) }

  /// Runs blocking work on the sheet's own thread to completion, even if the task is cancelled.
  private func onPool<Value: Sendable>(
    _ body: @escaping @Sendable (inout sending State) throws(ExportError) -> Value
  ) async throws(ExportError) -> Value {
    try await pool.runToEnd { [self] in
      Result { () throws(ExportError) in try state.withLock { state throws(ExportError) in try body(&state) } }
    }.get()
  }
}

extension Montage.Cell {
  /// The part of a sheet's cell that is drawn.
  init(_ cell: SheetCell, picture: Raster?) {
    var lines = [cell.name]
    if let failure = cell.failure {
      lines.append(failure)
    } else if let picture = cell.pictures.first {
      let size = picture.size.map { "\($0.width)×\($0.height)" }
      let bytes = picture.byteCount.map { "\(ByteSize(bytes: $0))" }
      lines.append([size, bytes].compactMap(\.self).joined(separator: ", "))
    }
    if let credit = cell.attribution ?? cell.author { lines.append(credit) }
    self.init(picture: picture, caption: lines, isFailure: cell.failure != nil)
  }
}
