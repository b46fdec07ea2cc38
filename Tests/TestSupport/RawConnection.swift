import Foundation
import Synchronization
import TestOrigin
import Testing

/// A TCP connection without any idea of HTTP.
package final class RawConnection: Sendable {
  package let descriptor: Int32
  private let received = Mutex(Data())
  private let isAtEnd = Mutex(false)

  /// - Parameters:
  ///   - client: The loopback address that it comes from.
  ///   - receiveBuffer: What the kernel keeps of what was not read yet, in bytes.
  package init(port: Int, from client: String = "127.0.0.1", receiveBuffer: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    if var receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
    }
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    func with(_ host: String, port: Int, _ call: (UnsafePointer<sockaddr>) -> Int32) -> Bool {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr(host)
      address.sin_port = in_port_t(port).bigEndian
      return withUnsafePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, call) } == 0
    }
    let isConnected =
      with(client, port: 0) { bind(descriptor, $0, length) }
      && with("127.0.0.1", port: port) { Glibc.connect(descriptor, $0, length) }
    // `deinit` closes the descriptor, after an error, too.
    guard isConnected else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  deinit { close(descriptor) }

  /// Sends all of a text; stops where the server takes no more.
  package func send(_ text: String) async { await send(Array(text.utf8)) }

  package func send(_ bytes: [UInt8]) async {
    var sent = 0
    _ = await eventually {
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
        guard count > 0 else { return errno != EAGAIN }
        sent += count
      }
      return true
    }
  }

  /// What has come so far.
  package var text: String {
    receive()
    return String(decoding: received.withLock { $0 }, as: UTF8.self)
  }

  package var data: Data {
    receive()
    return received.withLock { $0 }
  }

  /// Whether the server has closed the connection.
  package var isClosed: Bool {
    receive()
    return isAtEnd.withLock { $0 }
  }

  /// Waits until the text has come, and returns all that has.
  @discardableResult package func read(until text: String, count: Int = 1) async -> String {
    let hasCome = await eventually {
      self.text.components(separatedBy: text).count > count || isClosed
    }
    #expect(hasCome, "“\(text)” has not come, but \(self.text)")
    return self.text
  }

  package func readToEnd() async -> String {
    let isClosed = await eventually { self.isClosed }
    #expect(isClosed, "the server has not closed the connection; it has sent \(text)")
    return text
  }

  /// Takes what is there; at most `limit` bytes.
  package func receive(atMost limit: Int = .max) {
    var rest = limit
    while rest > 0 {
      var buffer = [UInt8](repeating: 0, count: min(rest, 64 << 10))
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { isAtEnd.withLock { $0 = true } }
      guard count > 0 else { return }
      rest -= count
      received.withLock { $0.append(contentsOf: buffer[..<count]) }
    }
  }
}
