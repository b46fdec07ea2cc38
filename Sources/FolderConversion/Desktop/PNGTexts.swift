import CISAL
import Foundation
package import ThumbnailCore

/// The texts (`tEXt`) of a PNG: read from the front of a file, and put into a new one.
package enum PNGTexts {
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The signature and the chunk `IHDR`, which comes first.
  private static let headerBytes = 33
  /// More is not read of a file, and of a text.
  private static let (mostChunks, longestText) = (64, 32 << 10)

  /// The texts before the pixels, by their keys. Nil if the file cannot be read, or is no PNG.
  package static func read(_ path: RawPath) -> [String: String]? {
    guard let (file, state) = try? RootFolder.file(at: path), state.kind == .regular else { return nil }
    let body = ByteSource.file(file, count: state.byteCount)
    guard let start = try? body.read(at: 0, length: 4096), start.starts(with: signature) else { return nil }
    var texts: [String: String] = [:]
    var position = signature.count
    for _ in 0..<mostChunks {
      guard let head = bytes(at: position, 8), head.count == 8 else { return texts }
      let length = head.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      let type = String(decoding: head.suffix(4), as: UTF8.self)
      if type == "IDAT" || length > state.byteCount { return texts }
      if type == "tEXt", length <= longestText, let text = bytes(at: position + 8, length),
        let end = text.firstIndex(of: 0)
      {
        texts[String(decoding: text[..<end], as: UTF8.self)] = String(decoding: text[(end + 1)...], as: UTF8.self)
      }
      position += 12 + length
    }
    return texts

    func bytes(at position: Int, _ length: Int) -> ArraySlice<UInt8>? {
      if position + length <= start.count { return start[position..<position + length] }
      return (try? body.read(at: position, length: length)).map { $0[...] }
    }
  }

  /// The PNG with the texts behind its header.
  ///
  /// - Parameter international: Texts in the chunk `iTXt`, which come first.
  static func adding(
    _ texts: [(key: String, value: String)], international: [(key: String, value: String)] = [], to png: Data
  ) -> Data {
    var result = Data(png.prefix(headerBytes))
    // Not compressed, and in no language.
    for text in international {
      result += chunk("iTXt", Array(text.key.utf8) + [0, 0, 0, 0, 0] + Array(text.value.utf8))
    }
    for text in texts { result += chunk("tEXt", Array(text.key.utf8) + [0] + Array(text.value.utf8)) }
    return result + png.dropFirst(headerBytes)
  }

  /// A PNG of one transparent pixel.
  static let onePixel: Data = {
    // Stored without compression: a row of its filter, gray and alpha, and Adler's sum of these three zero bytes.
    let pixels: [UInt8] = [0x78, 0x01, 0x01, 3, 0, 0xFC, 0xFF, 0, 0, 0, 0, 3, 0, 1]
    return Data(signature) + chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 4, 0, 0, 0]) + chunk("IDAT", pixels)
      + chunk("IEND", [])
  }()

  private static func chunk(_ type: String, _ data: [UInt8]) -> Data {
    let body = Array(type.utf8) + data
    let sum = body.withUnsafeBufferPointer { crc32_gzip_refl(0, $0.baseAddress, UInt64($0.count)) }
    return Data(bigEndian(UInt32(data.count)) + body + bigEndian(sum))
  }

  private static func bigEndian(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
