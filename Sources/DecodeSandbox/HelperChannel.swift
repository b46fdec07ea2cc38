import CSandbox
import Foundation
import ImageCodec
import ThumbnailCore

/// One end of the socket between a pipeline and a helper. Blocks the calling thread: in the pipeline until a deadline
/// or cancellation, in the helper as long as the connection is open.
///
/// Throws `.cancelled`, `.tooSlow`, `.crashed` if the other end is closed, and `.nonsense`.
struct HelperChannel {
  /// How often a blocked thread checks for cancellation, in milliseconds.
  private static let interval: Int32 = 20

  private let socket: FileDescriptor
  private let started = SuspendingClock.now
  /// The pipeline's limits for one request; nil in the helper.
  private let limits: (deadline: Duration, cancellation: CancellationFlag)?

  /// The helper's end.
  init(socket: FileDescriptor) { (self.socket, limits) = (socket, nil) }

  /// The pipeline's end, for one request.
  init(socket: FileDescriptor, deadline: Duration, cancellation: CancellationFlag) {
    (self.socket, limits) = (socket, (deadline, cancellation))
  }

  /// Sends one message, with an open file attached to its first byte.
  func send(_ message: some Encodable, passing file: FileDescriptor? = nil) throws(HelperFailure) {
    try send(try HelperMessage.encode(message), passing: file)
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
  func receive<Message: Decodable>(_ type: Message.Type) throws(HelperFailure) -> Message {
    try receive(type, length: try receive(4))
  }

  /// Receives a request and the image's file, which is attached to it.
  func receiveRequest() throws(HelperFailure) -> (HelperRequest, FileDescriptor) {
    var head = [UInt8](repeating: 0, count: 4)
    var descriptor: Int32 = -1
    var got = 0
    repeat { got = csandbox_receive(socket.rawValue, &head, 4, &descriptor) } while got < 0 && errno == EINTR
    guard descriptor >= 0 else { throw .nonsense(detail: "a request without a file") }
    let image = FileDescriptor(owning: descriptor)
    guard got == 4 else { throw .nonsense(detail: "a request without a length") }
    return (try receive(HelperRequest.self, length: head), image)
  }

  /// Receives exactly `count` bytes.
  func receive(_ count: Int) throws(HelperFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    // The buffer grows with what arrives, not with the announced length.
    while bytes.count < count {
      var error: Int32 = 0
      let piece = [UInt8](unsafeUninitializedCapacity: min(count - bytes.count, 64 << 10)) { buffer, filled in
        let got = recv(socket.rawValue, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        error = got < 0 ? errno : 0
        filled = max(0, got)
      }
      if !piece.isEmpty {
        bytes += piece
      } else {
        // No bytes and no error: the other end is closed.
        try wait(for: POLLIN, error: error == 0 ? EPIPE : error)
      }
    }
    return bytes
  }

  private func receive<Message: Decodable>(_ type: Message.Type, length: [UInt8]) throws(HelperFailure) -> Message {
    let length = HelperMessage.length(length)
    guard (2...HelperMessage.longest).contains(length) else { throw .nonsense(detail: "a message of \(length) bytes") }
    let json = try receive(length)
    guard let message = try? JSONDecoder().decode(type, from: Data(json)) else {
      throw .nonsense(detail: "a message that is not what was asked for")
    }
    return message
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
