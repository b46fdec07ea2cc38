import CSandbox
import Foundation
import ImageCodec
import ThumbnailCore

/// One end of the socket between a pipeline and a helper. Blocks the calling thread: in the pipeline until a deadline
/// or cancellation, in the helper as long as the connection is open.
///
/// Throws `.cancelled`, `.tooSlow`, `.crashed` if the other end is closed, and `.nonsense`.
struct HelperChannel: ~Copyable {
  /// How often a blocked thread checks for cancellation, in milliseconds.
  private static let interval: Int32 = 20
  /// How much is sent at once, in bytes, as each piece wakes the other end.
  private static let longestPiece = 512 << 10
  /// How much is received at once, in bytes.
  private static let pieceLength = 64 << 10

  private let socket: FileDescriptor
  private let started = SuspendingClock.now
  /// The pipeline's limits for one request; nil in the helper.
  private let limits: (deadline: Duration, cancellation: CancellationFlag)?
  /// What was received at once with what was asked for.
  private var received: [UInt8] = []
  /// How many of these bytes were asked for since.
  private var taken = 0

  /// The helper's end.
  init(socket: FileDescriptor) { (self.socket, limits) = (socket, nil) }

  /// The pipeline's end, for one request.
  init(socket: FileDescriptor, deadline: Duration, cancellation: CancellationFlag) {
    (self.socket, limits) = (socket, (deadline, cancellation))
  }

  /// Sends one message, with an open file attached to its first byte, and bytes behind it.
  func send(
    _ message: some HelperCoded, passing file: FileDescriptor? = nil, followedBy bodies: [[UInt8]] = []
  ) throws(HelperFailure) {
    var bytes = HelperMessage.encode(message)
    for body in bodies {
      if bytes.count + body.count > Self.longestPiece {
        try send(bytes, passing: file)
        bytes = body
      } else {
        bytes += body
      }
    }
    try send(bytes, passing: file)
  }

  /// Sends bytes, with an open file attached to the first of them.
  func send(_ bytes: [UInt8], passing file: FileDescriptor? = nil) throws(HelperFailure) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
        return if let file, sent == 0 {
          csandbox_send(socket.rawValue, rest.baseAddress, rest.count, file.rawValue)
        } else {
          Glibc.send(socket.rawValue, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        }
      }
      if count > 0 { sent += count } else { try wait(for: POLLOUT, error: errno) }
    }
  }

  /// Receives one message.
  mutating func receive<Message: HelperCoded>(_ type: Message.Type) throws(HelperFailure) -> Message {
    let length = try receive(4).reduce(0) { $0 << 8 | Int($1) }
    guard (1...HelperMessage.longest).contains(length) else { throw .nonsense(detail: "a message of \(length) bytes") }
    return try HelperMessage.decode(type, try receive(length))
  }

  /// Receives a request and the image's file, which is attached to it.
  mutating func receiveRequest() throws(HelperFailure) -> (HelperRequest, FileDescriptor) {
    var descriptor: Int32 = -1
    received = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { [socket] buffer, filled in
      var got = 0
      repeat {
        got = csandbox_receive(socket.rawValue, buffer.baseAddress, buffer.count, &descriptor)
      } while got < 0 && errno == EINTR
      filled = max(0, got)
    }
    taken = 0
    guard descriptor >= 0 else { throw .nonsense(detail: "a request without a file") }
    let image = FileDescriptor(owning: descriptor)
    return (try receive(HelperRequest.self), image)
  }

  /// Receives exactly `count` bytes.
  mutating func receive(_ count: Int) throws(HelperFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    // It grows with what arrives, not with the announced length.
    while true {
      let piece = received[taken..<min(received.count, taken + count - bytes.count)]
      bytes += piece
      taken += piece.count
      if bytes.count == count { return bytes }
      try receiveMore()
    }
  }

  /// Fills the buffer.
  mutating func receive(into buffer: UnsafeMutableRawBufferPointer) throws(HelperFailure) {
    var filled = min(buffer.count, received.count - taken)
    buffer.copyBytes(from: received[taken..<taken + filled])
    taken += filled
    while filled < buffer.count {
      let (count, error) = receiveSome(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      if count == 0 { try wait(for: POLLIN, error: error) }
      filled += count
    }
  }

  /// Waits for the next bytes; those before are used up.
  private mutating func receiveMore() throws(HelperFailure) {
    taken = 0
    repeat {
      var error: Int32 = 0
      received = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { buffer, filled in
        (filled, error) = receiveSome(into: UnsafeMutableRawBufferPointer(buffer))
      }
      if received.isEmpty { try wait(for: POLLIN, error: error) }
    } while received.isEmpty
  }

  /// Receives what has arrived already: the number of bytes, or 0 and why there are none.
  private func receiveSome(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, error: Int32) {
    let count = recv(socket.rawValue, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    // No bytes and no error: the other end is closed.
    return count > 0 ? (count, 0) : (0, count == 0 ? EPIPE : errno)
  }

  private func wait(for event: Int32, error: Int32) throws(HelperFailure) {
    if error == EINTR { return }
    guard error == EAGAIN || error == EWOULDBLOCK else { throw .crashed(how: "it closed its socket") }
    while true {
      var timeout: Int32 = -1
      if let limits {
        if limits.cancellation.isSet { throw .cancelled }
        let passed = SuspendingClock.now - started
        if passed >= limits.deadline { throw .tooSlow(milliseconds: Int(passed / .milliseconds(1))) }
        timeout = min(Int32(clamping: Int((limits.deadline - passed) / .milliseconds(1)) + 1), Self.interval)
      }
      var polled = pollfd(fd: socket.rawValue, events: Int16(event), revents: 0)
      if poll(&polled, 1, timeout) > 0 { return }
    }
  }
}
