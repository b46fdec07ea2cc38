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
  /// The file's share of the memory budget, if it is a file in memory.
  private var loan: MemoryLoan?

  init(length: Int, in locations: [SpillLocation]) { (self.length, self.locations) = (length, locations) }

  /// The body. Where nothing is known it reads as zeros.
  package var body: ByteSource { file.map { .file($0, count: length) } ?? .memory([]) }

  /// Adds what a download has brought, from its first byte on if it is not of a part.
  ///
  /// - Throws: `.cannotStoreBody`, with the first location's failure, when none has room.
  package mutating func add(_ download: Download) async throws(DownloadError) {
    let offset = download.part?.range.lowerBound ?? 0
    let added = self
    // Writing to a file blocks.
    let result = await PartialStore.onThread { [body = download.body] in
      Result { () throws(DownloadError) in
        var parts = added
        try parts.write(body, at: offset)
        return parts
      }
    }
    self = try result.get()
  }

  private mutating func write(_ part: ByteSource, at offset: Int) throws(DownloadError) {
    let range = offset..<offset + part.count
    var firstFailure: SpillFailure?
    while true {
      do throws(SpillFailure) {
        if let file {
          try loan?.cover(known.union(RangeSet([range])).byteCount)
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
        guard let (opened, loan) = try locations.removeFirst().open() else { continue }
        try loan?.cover(known.byteCount)
        try opened.extend(to: length)
        for range in known.ranges { try opened.spill(former.part(range), at: range.lowerBound) }
        (file, self.loan) = (opened, loan)
        return
      } catch {
        firstFailure = firstFailure ?? error
      }
    }
    if let firstFailure { throw firstFailure }
  }
}
