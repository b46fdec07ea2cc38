import CSandbox
import Foundation
import ImageCodec
import ThumbnailCore

/// The connection to a helper for one request: sends and receives over its socket until a deadline or cancellation.
///
/// Blocks the calling thread. Throws `.cancelled`, `.tooSlow`, `.crashed` if the helper closed the socket, and
/// `.nonsense`.
struct HelperLink {
  /// How often a blocked thread checks for cancellation, in milliseconds.
  private static let interval: Int32 = 20

  private let socket: Int32
  private let started = SuspendingClock.now
  private let deadline: Duration
  private let cancellation: CancellationFlag

  init(socket: FileDescriptor, deadline: Duration, cancellation: CancellationFlag) {
    self.socket = socket.rawValue
    self.deadline = deadline
    self.cancellation = cancellation
  }

  /// Sends bytes, with an open file attached to the first of them.
  func send(_ bytes: [UInt8], passing file: FileDescriptor) throws(HelperFailure) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
        return sent == 0
          ? csandbox_send(socket, rest.baseAddress, rest.count, file.rawValue)
          : Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      if count > 0 { sent += count } else { try wait(for: POLLOUT, error: errno) }
    }
  }

  /// Receives exactly `count` bytes.
  func receive(_ count: Int) throws(HelperFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    // The buffer grows with what arrives, not with the announced length.
    while bytes.count < count {
      var error: Int32 = 0
      let piece = [UInt8](unsafeUninitializedCapacity: min(count - bytes.count, 64 << 10)) { buffer, filled in
        let got = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        error = got < 0 ? errno : 0
        filled = max(0, got)
      }
      if !piece.isEmpty {
        bytes += piece
      } else {
        // No bytes and no error: the helper closed the socket.
        try wait(for: POLLIN, error: error == 0 ? EPIPE : error)
      }
    }
    return bytes
  }

  /// Receives one message.
  func receive<Message: Decodable>(_ type: Message.Type) throws(HelperFailure) -> Message {
    let length = HelperMessage.length(try receive(4))
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
      if cancellation.isSet { throw .cancelled }
      let passed = SuspendingClock.now - started
      if passed >= deadline { throw .tooSlow(milliseconds: Int(passed / .milliseconds(1))) }
      let left = Int32(clamping: Int((deadline - passed) / .milliseconds(1)) + 1)
      var polled = pollfd(fd: socket, events: Int16(event), revents: 0)
      if poll(&polled, 1, min(left, Self.interval)) > 0 { return }
    }
  }
}
