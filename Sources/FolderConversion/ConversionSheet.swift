import Exports
public import ThumbnailCore

/// The contact sheet of a conversion, with the inputs in their order.
///
/// Written incrementally: results that complete out of order are buffered as text. The thumbnails are referenced by
/// paths relative to the page, so both can be moved together.
public struct ConversionSheet: Sendable {
  private let prefix: [UInt8]
  private var next = 0
  private var waiting: [Int: String] = [:]

  /// A page at `path` for the thumbnails in `outputFolder`.
  public init(path: RawPath, outputFolder: RawPath) {
    prefix = Self.prefix(from: RawPath(bytes: path.folder), to: outputFolder)
  }

  /// The start of the page.
  public static let head = ContactSheet.head()

  /// Adds a result, and returns the text that can be appended now: empty while earlier results are missing.
  public mutating func add(_ result: ConversionResult) -> String {
    waiting[result.index] = cell(result).map(ContactSheet.figure) ?? ""
    var text = ""
    while let figure = waiting.removeValue(forKey: next) {
      text += figure
      next += 1
    }
    return text
  }

  /// The rest of the page.
  public mutating func finish(_ summary: ConversionSummary) -> String {
    let rest = waiting.sorted { $0.key < $1.key }.map(\.value).joined()
    waiting = [:]
    return rest
      + ContactSheet.foot([
        .init("\(summary.converted) made"), .init("\(summary.current) current"),
        .init("\(summary.failed) failed", isFailure: summary.failed > 0), .init("\(summary.skipped) skipped"),
      ])
  }

  private func cell(_ result: ConversionResult) -> SheetCell? {
    let name = result.source.description
    switch result.status {
    case .failed: return SheetCell(name: name, failure: result.failure?.message ?? "it failed")
    case .skipped: return nil
    case .converted, .current:
      guard !result.outputs.isEmpty else { return nil }
      let pictures = result.outputs.map { output in
        SheetCell.Picture(
          size: output.size, byteCount: output.byteCount, content: .linked(address: address(output)),
          colour: output.colour)
      }
      return SheetCell(name: name, pictures: pictures)
    }
  }

  /// The relative URL of a thumbnail, with all bytes reserved in URLs percent-encoded.
  private func address(_ output: ConversionOutput) -> String {
    var text = ""
    for byte in prefix + output.path.bytes {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E:
        text.unicodeScalars.append(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += (byte < 16 ? "%0" : "%") + digits
      }
    }
    // A colon in the first component would be read as a scheme; here it is percent-encoded.
    return text
  }

  /// The relative path from one folder to another, empty or with a trailing slash. Absolute if they have no common
  /// ancestor.
  private static func prefix(from page: RawPath, to folder: RawPath) -> [UInt8] {
    let base = page.bytes.isEmpty ? RawPath(".") : page
    guard let from = base.resolved, let to = folder.resolvedWhereThere else { return folder.bytes + [RawPath.slash] }
    let (source, target) = (from.bytes.split(separator: RawPath.slash), to.bytes.split(separator: RawPath.slash))
    let common = zip(source, target).prefix { $0.elementsEqual($1) }.count
    let up = Array("../".utf8)
    return (0..<(source.count - common)).flatMap { _ in up }
      + target[common...].flatMap { Array($0) + [RawPath.slash] }
  }
}
