import Exports
import FolderConversion
import Foundation
import ThumbnailCore
import Thumbnailer

/// The contact sheet of a conversion, with the inputs in their order.
actor ConversionSheet {
  /// The longest thumbnail that the sheet shows, in bytes: 1 MiB. A longer one is only listed.
  private static let longestThumbnail = 1 << 20

  private let options: FolderConverter.Options
  private let sheet: SheetFile?
  private var next = 0
  /// Results that arrived out of order. Their thumbnails are read only when they are added to the sheet, so they take
  /// little memory.
  private var waiting: [Int: ConversionResult] = [:]

  /// Creates it, if one is requested.
  ///
  /// - Throws: `FileWriteError`.
  init(_ requested: ConvertReportOptions, _ options: FolderConverter.Options, of conversion: Conversion) async throws {
    self.options = options
    if let path = requested.sheet.sheet, await conversion.reads(RawPath(path)) {
      throw FileWriteError(path: path, reason: "it is one of the pictures")
    }
    sheet = try requested.sheet.sheet.map { try SheetFile(path: $0, title: "Contact sheet") }
  }

  /// Adds an input.
  func add(_ result: ConversionResult) throws {
    guard sheet != nil else { return }
    waiting[result.index] = result
    while let result = waiting.removeValue(forKey: next) {
      next += 1
      try show(result)
    }
  }

  /// Completes it.
  func finish(_ summary: ConversionSummary) throws {
    // Not all, if the run was stopped.
    for (_, result) in waiting.sorted(by: { $0.key < $1.key }) { try show(result) }
    try sheet?.finish(pictures: summary.converted + summary.current + summary.failed, failed: summary.failed)
  }

  /// Adds an input to the sheet: its smallest thumbnail in bytes, and the sizes of all.
  private func show(_ result: ConversionResult) throws {
    let name = result.source.description
    switch result.status {
    case .skipped: return
    case .failed: try sheet?.add(SheetCell(name: name, failure: result.failure?.message ?? "it failed"))
    case .converted, .current:
      var outputs = result.outputs
      let sizes = outputs.map { $0.byteCount ?? .max }
      guard let smallest = sizes.indices.min(by: { sizes[$0] < sizes[$1] }) else { return }
      outputs.swapAt(0, smallest)
      var pictures = outputs.map {
        SheetCell.Picture(size: $0.size, byteCount: $0.byteCount, colour: $0.colour)
      }
      pictures[0].file = file(outputs[0])
      try sheet?.add(SheetCell(name: name, pictures: pictures))
    }
  }

  /// The bytes of a thumbnail; nil if its file is missing or too long.
  private func file(_ output: ConversionOutput) -> (Data, ImageFormat)? {
    // As bytes, since file names need not be UTF-8.
    let bytes = (try? RootFolder(options.output))?.bytes(of: output.path.bytes, atMost: Self.longestThumbnail)
    return bytes.flatMap { $0.isEmpty ? nil : (Data($0), output.format ?? .jpeg) }
  }
}
