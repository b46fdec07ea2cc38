import Glibc
import RAWPreviews
package import ThumbnailCore

/// Reads when an image or a film was taken: from its head, and if that does not suffice from two more pieces of it.
package enum DateReader {
  /// The length of the first read in bytes, in which most files have their date.
  static let headBytes = 16 << 10
  /// The length of each further read in bytes.
  static let pieceBytes = 64 << 10
  /// The most reads of a file for its date, and for its details, too.
  static let mostReads = 3
  private static let mostReadsForDetails = 6

  /// The date of a file, with its state: from its contents, else from its name, else its last change.
  ///
  /// - Throws: If it is no regular file, or cannot be opened.
  package static func date(of path: RawPath) throws(SystemFailure) -> (date: CaptureDate, state: FileState) {
    // Without waiting for the other end of a pipe.
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard descriptor >= 0 else { throw .last }
    let file = FileDescriptor(owning: descriptor)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .last }
    let state = FileState(status)
    guard state.kind == .regular else { throw SystemFailure(code: EINVAL) }
    let found = date(in: .file(file, count: state.byteCount))
    return (found ?? CaptureDate(name: path.name) ?? CaptureDate(fileTime: state.modified), state)
  }

  /// The date in the bytes of an image or a film; nil if there is none.
  package static func date(in source: ByteSource) -> CaptureDate? {
    date(length: source.count) { range in try source.read(at: range.lowerBound, length: range.count) }
  }

  /// The details of the shot in the bytes of an image, and its date; nil if there is none.
  package static func details(in source: ByteSource) -> (date: CaptureDate?, details: ShotDetails) {
    let walk = walk(length: source.count, wantsDetails: true) { range in
      try source.read(at: range.lowerBound, length: range.count)
    }
    return (walk?.best, walk?.details ?? ShotDetails())
  }

  /// - Parameters:
  ///   - length: The length of the file in bytes.
  ///   - read: Reads a range of it: fewer bytes only at the end of the file.
  static func date(length: Int, read: (Range<Int>) throws -> [UInt8]) -> CaptureDate? {
    walk(length: length, wantsDetails: false, read: read)?.best
  }

  /// The last of the walks through a file, each of which begins with more of its bytes; nil if nothing can be read.
  private static func walk(
    length: Int, wantsDetails: Bool, read: (Range<Int>) throws -> [UInt8]
  ) -> DateWalk? {
    var known = KnownBytes()
    // Nothing beyond the end is read.
    known.add([], of: length..<length + 1)
    var last: DateWalk?
    var wanted = 0..<headBytes
    for _ in 0..<(wantsDetails ? mostReadsForDetails : mostReads) {
      guard let bytes = try? read(wanted) else { break }
      known.add(bytes, of: wanted)
      var walk = DateWalk(known, length: length, wantsDetails: wantsDetails)
      do throws(MissingBytes) {
        try walk.run()
        return walk
      } catch {
        last = walk
        wanted = error.range.lowerBound..<error.range.lowerBound + pieceBytes
      }
    }
    return last
  }
}
