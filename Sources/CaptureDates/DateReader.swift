import Glibc
import RAWPreviews
package import ThumbnailCore

/// Reads when an image was taken and by which camera: from its head, and if that does not suffice from two more
/// pieces of it.
package enum DateReader {
  /// The length of the first read in bytes, in which most files have their date.
  static let headBytes = 16 << 10
  /// The length of each further read in bytes.
  static let pieceBytes = 64 << 10
  /// The most reads of a file for its date, and for its details, too.
  static let mostReads = 3
  private static let mostReadsForDetails = 6

  /// The date of a file, with its state: from its contents, else from its name, else its last change. The camera is nil
  /// if the contents do not name it.
  ///
  /// - Throws: If it is no regular file, or cannot be opened.
  package static func date(
    of path: RawPath
  ) throws(SystemFailure) -> (date: CaptureDate, state: FileState, camera: String?) {
    let (file, state) = try RootFolder.file(at: path)
    guard state.kind == .regular else { throw SystemFailure(code: EINVAL) }
    let walk = walk(in: .file(file, count: state.byteCount), wantsDetails: false)
    let date = walk?.best ?? CaptureDate(name: path.name) ?? CaptureDate(fileTime: state.modified)
    return (date, state, walk?.details.camera)
  }

  /// The details of the shot in the bytes of an image, and its date; nil if there is none.
  package static func details(in source: ByteSource) -> (date: CaptureDate?, details: ShotDetails) {
    let walk = walk(in: source, wantsDetails: true)
    return (walk?.best, walk?.details ?? ShotDetails())
  }

  private static func walk(in source: ByteSource, wantsDetails: Bool) -> DateWalk? {
    walk(length: source.count, wantsDetails: wantsDetails) { range in
      try source.read(at: range.lowerBound, length: range.count)
    }
  }

  /// The last of the walks through a file, each of which begins with more of its bytes; nil if nothing can be read.
  ///
  /// - Parameters:
  ///   - length: The length of the file in bytes.
  ///   - read: Reads a range of it: fewer bytes only at the end of the file.
  static func walk(
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
