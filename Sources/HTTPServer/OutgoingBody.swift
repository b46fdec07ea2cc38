import Foundation
import HTTPSemantics
import NIOCore
import Synchronization

/// A body that is sent part by part, one at a time, so that a connection does not copy the whole body in memory.
struct OutgoingBody {
  /// The length of a part in bytes.
  static let partLength = 16 << 10

  private enum Source {
    case bytes(Data)
    case file(NIOFileHandle)
  }

  private let source: Source
  private var rest: Range<Int>

  /// A file belongs to this value from now on. Nil for a body that is written.
  init?(_ body: ServerResponse.Body) {
    switch body {
    case .bytes(let bytes): (source, rest) = (.bytes(bytes), 0..<bytes.count)
    case .file(let file, let range): (source, rest) = (.file(file), range)
    case .stream, .written: return nil
    }
  }

  /// The next part, and whether it is the last one; nil if the file has become shorter.
  mutating func next() -> (part: IOData, isLast: Bool)? {
    let part: IOData
    let range = rest.prefix(Self.partLength)
    rest = rest.dropFirst(Self.partLength)
    switch source {
    case .bytes(let bytes):
      part = .byteBuffer(bytes.withUnsafeBytes { ByteBuffer(bytes: UnsafeRawBufferPointer(rebasing: $0[range])) })
    case .file(let file):
      // Not sent by the kernel: NIO would ask it for ever for bytes that are not there any more.
      var bytes = ByteBuffer()
      let count = try? file.withUnsafeFileDescriptor { descriptor in
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: range.count) {
          max(0, pread(descriptor, $0.baseAddress, range.count, off_t(range.lowerBound)))
        }
      }
      guard count == range.count else { return nil }
      part = .byteBuffer(bytes)
    }
    return (part, rest.isEmpty)
  }

  /// Closes the file, if it is one.
  func close() {
    if case .file(let file) = source { try? file.close() }
  }
}

extension ServerResponse.Body {
  /// Its length in bytes, if it is known.
  var length: Int? {
    switch self {
    case .bytes(let bytes): bytes.count
    case .file(_, let range): range.count
    case .stream: nil
    case .written(let length, _): length
    }
  }

  /// What sends its parts; nil for an `OutgoingBody`.
  var writer: ServerResponse.Writer? {
    switch self {
    case .bytes, .file: nil
    case .stream(let parts): { send in for await part in parts { try await send(part) } }
    case .written(_, let writer): writer
    }
  }
}

/// The value of `Date`, formatted once a second.
final class DateHeader: Sendable {
  static let shared = DateHeader()

  private let state = Mutex((second: 0, text: ""))

  var value: String {
    let second = time(nil)
    return state.withLock { state in
      if state.second != second {
        state = (second, HTTPDate.text(Date(timeIntervalSince1970: Double(second))))
      }
      return state.text
    }
  }
}
