/// Finds the images embedded in a RAW file, from few of its bytes.
///
/// Use it like this: call `next()`, read the bytes that it requests, add them, and call it again. It requests the first
/// 64 KiB, in which most files have all of their directories, and then a few KiB at a time, forwards if the file's
/// layout permits that. All positions in the file are untrusted: ranges are checked, counts and rounds are bounded.
package struct RAWReader: Sendable {
  /// The outcome of a walk through the bytes so far.
  package enum Step: Sendable, Equatable {
    /// These bytes have to be read; fewer only at the end of the file.
    case read(Range<Int>)
    /// The file is not RAW: an ordinary TIFF, a video.
    case notRAW
    case found(RAWFile)
  }

  /// The length of the first read in bytes.
  package static let firstLength = 64 << 10
  /// The most reads. A real file takes fewer than 20.
  static let mostReads = 64

  package private(set) var known: KnownBytes
  private var reads = 0

  /// `known` are the bytes that have been read already.
  package init(_ known: KnownBytes = KnownBytes()) { self.known = known }

  /// Adds the bytes of a range.
  package mutating func add(_ bytes: [UInt8], of range: Range<Int>) {
    known.add(bytes, of: range)
    reads += 1
  }

  /// Walks through the bytes so far.
  package func next() -> Step {
    if known.isEmpty { return .read(0..<Self.firstLength) }
    var walk = RAWWalk(known)
    do throws(MissingBytes) {
      return try walk.run().map { .found($0) } ?? .notRAW
    } catch {
      // A file that leads back and forth is read no further.
      guard reads < Self.mostReads else { return walk.isRAW ? .found(walk.file) : .notRAW }
      return .read(error.range)
    }
  }
}

extension RAWReader {
  /// Reads a whole file; nil if it is not RAW.
  package static func read(_ bytes: (Range<Int>) throws -> [UInt8]) rethrows -> RAWFile? {
    var reader = RAWReader()
    while true {
      switch reader.next() {
      case .found(let file): return file
      case .notRAW: return nil
      case .read(let range): reader.add(try bytes(range), of: range)
      }
    }
  }
}
