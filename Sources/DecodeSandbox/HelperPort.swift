import CSandbox
import Foundation
import ThumbnailCore

/// The helper's end of the socket. Blocks; its methods report when the pipeline has closed the other end.
struct HelperPort {
  let socket: FileDescriptor

  /// The next request and the image's file; nil when the connection is closed.
  func receiveOrder() -> (HelperRequest, FileDescriptor)? {
    var head = [UInt8](repeating: 0, count: 4)
    var descriptor: Int32 = -1
    var got = 0
    repeat { got = csandbox_receive(socket.rawValue, &head, 4, &descriptor) } while got < 0 && errno == EINTR
    guard descriptor >= 0 else { return nil }
    let picture = FileDescriptor(owning: descriptor)
    guard got == 4, (2...HelperMessage.longest).contains(HelperMessage.length(head)),
      let json = receive(HelperMessage.length(head)),
      let request = try? JSONDecoder().decode(HelperRequest.self, from: Data(json))
    else { return nil }
    return (request, picture)
  }

  /// Sends all the bytes. False if the connection is closed.
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        Glibc.send(
          socket.rawValue, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  private func receive(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var received = 0
    while received < count {
      let got = bytes.withUnsafeMutableBytes { bytes in
        recv(socket.rawValue, bytes.baseAddress.map { $0 + received }, count - received, 0)
      }
      if got < 0 && errno == EINTR { continue }
      guard got > 0 else { return nil }
      received += got
    }
    return bytes
  }
}
