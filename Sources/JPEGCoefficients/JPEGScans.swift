import Foundation

/// Counts the scans of a JPEG without decoding them.
///
/// For each scan of a progressive JPEG the decoder visits all blocks: a file of a few kilobytes with many scans can
/// keep it busy for minutes, without a chance to cancel.
package enum JPEGScans {
  /// The most scans that are decoded; later versions of libvips have the same limit. Encoders write about ten.
  package static let most = 100

  private static let windowLength = 65_536

  /// The number of scans, counted up to `most` + 1, and the bytes of coded data of the first one, up to the end of the
  /// file.
  ///
  /// - Throws: `POSIXError` when the body's file cannot be read.
  package static func count(in body: any JPEGSource) throws -> (scans: Int, firstScanBytes: Int) {
    var window = (start: 0, bytes: [UInt8]())
    func byte(at position: Int) throws -> UInt8? {
      if position < window.start || position >= window.start + window.bytes.count {
        guard position < body.count else { return nil }
        window = (position, try body.bytes(at: position, length: windowLength))
      }
      let index = position - window.start
      return index < window.bytes.count ? window.bytes[index] : nil
    }
    /// The position of the next 0xFF in the window, or the window's end.
    func nextPrefix(after position: Int) -> Int {
      window.bytes.withUnsafeBytes { bytes in
        let from = position + 1 - window.start
        guard from < bytes.count, let base = bytes.baseAddress else { return position + 1 }
        guard let found = memchr(base + from, 0xFF, bytes.count - from) else { return window.start + bytes.count }
        return window.start + (found - UnsafeMutableRawPointer(mutating: base))
      }
    }
    var (scans, first) = (0, 0)
    var position = 2
    while scans <= most {
      // At a marker, or in coded data before the next one.
      guard let prefix = try byte(at: position) else { break }
      if prefix != 0xFF {
        position = nextPrefix(after: position)
        continue
      }
      guard let marker = try byte(at: position + 1) else { break }
      if marker == 0 || (0xD0...0xD7).contains(marker) {
        position += 2
      } else if marker == 0xFF {
        position += 1
      } else if marker == 0xD9 {
        break
      } else {
        guard let high = try byte(at: position + 2), let low = try byte(at: position + 3) else { break }
        position += 2 + max(2, Int(high) << 8 | Int(low))
        if marker == 0xDA {
          scans += 1
          if scans == 1 { first = max(0, body.count - position) }
        }
      }
    }
    return (scans, first)
  }
}
