import Foundation

/// Asks a server whether it is ready, for the health check of a container that has no other program.
enum ServerCheck {
  /// The most seconds for the connection, the request and each part of the response.
  private static let patience = timeval(tv_sec: 5, tv_usec: 0)

  /// Whether the server at this address responds with 200 to `/readyz`. Blocks for at most a few seconds.
  static func isReady(host: String, port: Int) -> Bool {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let address = found else { return false }
    defer { freeaddrinfo(address) }
    let connection = socket(address.pointee.ai_family, address.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard connection >= 0 else { return false }
    defer { close(connection) }
    for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
      var patience = patience
      setsockopt(connection, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    guard connect(connection, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else { return false }
    let request = Array("GET /readyz HTTP/1.1\r\nHost: localhost:\(port)\r\nConnection: close\r\n\r\n".utf8)
    guard write(connection, request, request.count) == request.count else { return false }
    // A status line arrives in one piece.
    var line = [UInt8](repeating: 0, count: 64)
    let count = read(connection, &line, line.count)
    return count > 0 && line.starts(with: "HTTP/1.1 200 ".utf8)
  }
}
