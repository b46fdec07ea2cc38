import Foundation
import TestOrigin
import Testing
@testable import TestSupport
@testable import TransportTestSupport

/// The test origin itself, driven with plain sockets: what it claims to do on the wire is what it does.
@Suite(.timeLimit(.minutes(5)))
struct OriginTests {
  @Test func answersRequestsOverOneKeptConnection() throws {
    let origin = try Origin { .ok("hello \($0.path)".utf8, type: "text/plain") }
    let client = try RawClient(port: origin.port)
    for path in ["/a", "/b%20c"] {
      client.send("GET \(path)?q=x+y HTTP/1.1\r\nHost: h\r\nX-One: 1\r\n\r\n")
      #expect(client.receive(until: path == "/a" ? "hello /a" : "hello /b c").hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
    #expect(origin.connectionCount == 1)
    #expect(origin.requests.map(\.path) == ["/a", "/b c"])
    #expect(origin.requests[0].request.query == ["q": "x y"])
    #expect(origin.requests[0].request.value(of: "x-one") == "1")
    #expect(origin.requests[1].bodyBytesSent == 10)
  }

  @Test func notesThatTheClientClosedDuringAStall() async throws {
    let origin = try Origin { _ in .ok([UInt8](repeating: 7, count: 1000)).stalling(after: 10) }
    do {
      let client = try RawClient(port: origin.port)
      client.send("GET / HTTP/1.1\r\n\r\n")
      _ = client.receive(until: "\u{7}\u{7}\u{7}")
      #expect(origin.requests[0].outcome == .running)
    }
    #expect(await eventually { origin.requests[0].outcome == .clientClosed && origin.openConnections == 0 })
    #expect(origin.requests[0].bodyBytesSent == 10)
    #expect(origin.runningRequests == 0)
  }

  @Test func aGateHoldsTheAnswerUntilItOpens() async throws {
    let gate = Gate()
    let origin = try Origin { _ in .json("{}").held(by: gate) }
    let client = try RawClient(port: origin.port)
    client.send("GET / HTTP/1.1\r\n\r\n")
    #expect(await eventually { origin.runningRequests == 1 })
    gate.open()
    #expect(client.receive(until: "{}").contains("Content-Type: application/json"))
  }

  @Test func sendsChunksAndTruncatesAndLies() throws {
    let origin = try Origin { request in
      let body = OriginResponse.ok("0123456789".utf8)
      return switch request.path {
      case "/chunked": body.chunked().dripping(bytes: 4, every: .milliseconds(1))
      case "/truncated": body.truncated(after: 3)
      default: body.announcing(20)
      }
    }
    let client = try RawClient(port: origin.port)
    client.send("GET /chunked HTTP/1.1\r\n\r\n")
    #expect(client.receive(until: "0\r\n\r\n").hasSuffix("4\r\n0123\r\n4\r\n4567\r\n2\r\n89\r\n0\r\n\r\n"))
    client.send("GET /truncated HTTP/1.1\r\n\r\n")
    #expect(client.receive(until: nil).hasSuffix("Content-Length: 10\r\nConnection: close\r\n\r\n012"))
    let second = try RawClient(port: origin.port)
    second.send("GET /lie HTTP/1.1\r\n\r\n")
    #expect(second.receive(until: nil).hasSuffix("Content-Length: 20\r\nConnection: close\r\n\r\n0123456789"))
  }

  @Test func servesAFolderButNothingOutsideIt() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "origin-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("picture".utf8).write(to: folder.appending(path: "a b.jpg"))
    let origin = try Origin.serving(directory: folder)
    let client = try RawClient(port: origin.port)
    client.send("GET /a%20b.jpg HTTP/1.1\r\n\r\n")
    #expect(client.receive(until: "picture").contains("Content-Type: image/jpeg"))
    client.send("GET /%2e%2e/etc/passwd HTTP/1.1\r\n\r\n")
    #expect(client.receive(until: "no such file").hasPrefix("HTTP/1.1 404"))
  }

  @Test func stoppingEndsStalledConnections() async throws {
    let origin = try Origin { _ in .ok([1, 2, 3]).stalling(after: 1) }
    let client = try RawClient(port: origin.port)
    client.send("GET / HTTP/1.1\r\n\r\n")
    #expect(await eventually { origin.requests.first?.bodyBytesSent == 1 })
    origin.stop()
    #expect(await eventually { origin.openConnections == 0 })
    // From here on nobody answers at its port, however often it is stopped.
    origin.stop()
    #expect(throws: POSIXError(.ECONNREFUSED)) { try RawClient(port: origin.port) }
  }

  @Test func thePortOfAStoppedOriginStaysItsOwn() throws {
    let origin = try Origin { _ in .ok([1]) }
    origin.stop()
    origin.stop()
    #expect(throws: POSIXError.self) { try RawClient(port: origin.port) }
    // Whoever asks for that very port does not get it.
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(origin.port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(result == -1 && errno == EADDRINUSE)
  }
}

/// A blocking TCP client that closes its socket when it is dropped.
private final class RawClient {
  private let socket: Int32

  init(port: Int) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  }

  deinit { close(socket) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
  }

  /// Reads until the text ends with `end`; without one, until the connection closes.
  func receive(until end: String?) -> String {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    while end.map({ !text.hasSuffix($0) }) ?? true {
      let count = recv(socket, &buffer, buffer.count, 0)
      if count <= 0 { break }
      text += String(decoding: buffer[..<count], as: UTF8.self)
    }
    return text
  }
}
