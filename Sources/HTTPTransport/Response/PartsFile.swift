import Foundation
package import ThumbnailCore

/// A body of which only some parts are there, each in its place in an unnamed file. The rest of the file takes no room.
package struct PartsFile: Sendable {
  /// The length of the whole body in bytes.
  package let length: Int
  /// Which bytes are there.
  package private(set) var known = RangeSet<Int>()
  private var locations: [SpillLocation]
  private var file: FileDescriptor?
  /// Where parts are written, which blocks.
  private static let thread = DispatchQueue(label: "thumbnailer.parts")

  init(length: Int, in locations: [SpillLocation]) { (self.length, self.locations) = (length, locations) }

  /// The body. Where nothing is known it reads as zeros.
  package var body: ByteSource { file.map { .file($0, count: length) } ?? .memory([]) }

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
    let range = offset..<offset + part.count
    var firstFailure: SpillFailure?
    while true {
      do throws(SpillFailure) {
        if let file {
          try file.spill(part, at: offset)
          known.insert(contentsOf: range)
          return
        }
      } catch {
        firstFailure = firstFailure ?? error
      }
      do throws(SpillFailure) { try moveToNextLocation() } catch { firstFailure = firstFailure ?? error }
      guard file != nil else {
        throw .cannotStoreBody(
          path: firstFailure?.location ?? "", reason: firstFailure?.reason ?? "no directory for large bodies")
      }
    }
  }

  /// Moves the parts to the next location that takes them. There is no file when none is left.
  private mutating func moveToNextLocation() throws(SpillFailure) {
    let former = body
    file = nil
    var firstFailure: SpillFailure?
    while !locations.isEmpty {
      do throws(SpillFailure) {
        guard let (opened, _) = try locations.removeFirst().open() else { continue }
        try opened.extend(to: length)
        for range in known.ranges { try opened.spill(former.part(range), at: range.lowerBound) }
        file = opened
        return
      } catch {
        firstFailure = firstFailure ?? error
      }
    }
    if let firstFailure { throw firstFailure }
  }
}
