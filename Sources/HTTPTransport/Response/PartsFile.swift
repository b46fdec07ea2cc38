import Foundation
import Logging
package import ThumbnailCore

/// A body of which only some parts are there, each in its place in an unnamed file. The rest of the file takes no room.
package struct PartsFile: Sendable {
  /// The length of the whole body in bytes.
  package let length: Int
  /// Which bytes are there.
  package private(set) var known = RangeSet<Int>()
  private var spill: SpillFile
  /// Where parts are written, which blocks.
  private static let thread = DispatchQueue(label: "thumbnailer.parts")

  init(length: Int, in locations: [SpillLocation], logger: Logger) {
    (self.length, spill) = (length, SpillFile(locations, logger: logger))
  }

  /// The body. Where nothing is known it reads as zeros.
  package var body: ByteSource { spill.file.map { .file($0, count: length) } ?? .memory([]) }

  /// Adds what a download has brought, from its first byte on if it is not of a part, and drops its bytes.
  ///
  /// - Throws: `.cannotStoreBody`, with the first location's failure, when none has room.
  package mutating func add(_ download: inout Download) async throws(DownloadError) {
    let (offset, added) = (download.part?.range.lowerBound ?? 0, self)
    let result = await withCheckedContinuation { continuation in
      Self.thread.async { [body = download.body] in
        continuation.resume(
          returning: Result { () throws(DownloadError) in
            var parts = added
            try parts.write(body, at: offset)
            return parts
          })
      }
    }
    self = try result.get()
    download.dropBytes()
  }

  private mutating func write(_ part: ByteSource, at offset: Int) throws(DownloadError) {
    let length = length
    try spill.write(behind: body, known: Array(known.ranges), length: length) { file throws(SystemFailure) in
      guard ftruncate(file.rawValue, off_t(length)) == 0 else { throw .last }
      try file.write(part, at: offset)
    }
    known.insert(contentsOf: offset..<offset + part.count)
  }
}
