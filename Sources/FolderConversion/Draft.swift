import CISAL
import Foundation
import ThumbnailCore

/// An output that is written, but has not yet its name.
final class Draft {
  /// Its path in the output folder.
  let path: [UInt8]
  var file: NewFile
  /// What it replaces.
  var replaced: FileState?

  init(_ path: [UInt8], _ file: consuming NewFile) {
    self.path = path
    self.file = file
  }

  /// Writes the content. False if that is a file, and not in the expected state any more.
  func fill(_ content: OutputFolder.Content) throws(SystemFailure) -> Bool {
    switch content {
    case .data(let data): try file.write(data)
    case .file(let source, let expected):
      var rest = expected.byteCount
      var position = off_t(0)
      while rest > 0 {
        let count = sendfile(file.file.rawValue, source.rawValue, &position, rest)
        if count < 0, errno != EINTR { throw .last }
        if count == 0 { return false }
        rest -= max(0, count)
      }
      guard try FileState(ofOpen: source) == expected else { return false }
      try file.setTimes(accessed: expected.accessTime, modified: expected.modificationTime)
    }
    return true
  }

  /// Its length and digest.
  func measure() throws(SystemFailure) -> (byteCount: Int, digest: UInt64) {
    let byteCount = try FileState(ofOpen: file.file).byteCount
    return (byteCount, try ByteSource.file(file.file, count: byteCount).digest())
  }
}

extension ByteSource {
  /// A checksum of the bytes.
  func digest() throws(SystemFailure) -> UInt64 {
    var digest = UInt64(0)
    for start in stride(from: 0, to: count, by: 1 << 20) {
      let bytes: [UInt8]
      do { bytes = try read(at: start, length: 1 << 20) } catch { throw SystemFailure(code: EIO) }
      digest = bytes.withUnsafeBufferPointer { crc64_ecma_refl(digest, $0.baseAddress, UInt64($0.count)) }
    }
    return digest
  }
}
