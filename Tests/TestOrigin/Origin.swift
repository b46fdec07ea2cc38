public import Foundation

/// An HTTP/1.1 server on loopback for tests, with one thread for each connection.
///
/// It sends what its handler returns (see `OriginResponse` for the possible faults) and logs the requests. It serves
/// until `stop()` or the end of the process, not only while this object is retained: Swift may release it after its
/// last use, while the test still waits for a response.
///
///     let origin = try Origin { request in request.path == "/a" ? .ok(bytes).delayed(.milliseconds(20)) : .status(404) }
public final class Origin: Sendable {
  private let listener: Int32
  private let log = OriginLog()

  /// The address, one of 127.0.0.0/8.
  public let address: String
  /// The port, chosen by the kernel unless a test has.
  public let port: Int

  /// Listens on an address of 127.0.0.0/8. `handler` is called concurrently on the connections' threads.
  ///
  /// - Throws: `POSIXError` if no socket is available.
  public init(
    at address: String = "127.0.0.1", port: Int = 0, _ handler: @escaping @Sendable (OriginRequest) -> OriginResponse
  ) throws {
    self.address = address
    (listener, self.port) = try Self.listen(at: address, port: UInt16(port))
    let listener = listener
    let log = log
    Self.startThread(named: "origin") {
      while !log.isStopped {
        let socket = accept(listener, nil, nil)
        guard socket >= 0 else {
          // Real time: descriptors may run out briefly while many tests run; clients wait in the listen queue.
          if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { usleep(10_000) }
          continue
        }
        setCloseOnExec(socket)
        Self.serve(socket, log: log, handler: handler)
      }
    }
  }

  /// Serves the files of a folder under their relative paths, with content types by extension. Any other path is a 404.
  public static func serving(directory: URL) throws -> Origin {
    let files = OriginFiles(root: directory)
    return try Origin { files.response(to: $0) }
  }

  /// Closes all connections and stops listening; idempotent. The port stays reserved, so that later connections are
  /// refused instead of reaching another test's origin; only a server that explicitly shares this port could get it.
  public func stop() {
    guard log.stop({ _ = shutdown($0, Int32(SHUT_RDWR)) }) else { return }
    shutdown(listener, Int32(SHUT_RDWR))
    Self.allowSharing(of: listener, true)
  }

  /// The URL of a path, which begins with a slash. `host` may be another name of this machine, such as `localhost`.
  public func url(_ path: String = "/", host: String? = nil) -> URL {
    guard let url = URL(string: "http://\(host ?? address):\(port)\(path)") else {
      preconditionFailure("no path: \(path)")
    }
    return url
  }

  /// All requests so far, in order of arrival.
  public var requests: [OriginRecord] { log.records }
  /// The requests for one path, in order of arrival.
  public func requests(for path: String) -> [OriginRecord] { requests.filter { $0.path == path } }
  /// The number of open connections, active or idle.
  public var openConnections: Int { log.openConnections }
  /// The total number of connections.
  public var connectionCount: Int { log.connections }
  /// The number of requests being served.
  public var runningRequests: Int { log.running }
  /// The largest number of concurrent requests.
  public var maximumSimultaneousRequests: Int { log.maximumRunning }

  /// A listening socket. It is bound to an explicit port, since a port chosen by the kernel is released as soon as the
  /// socket is shut down.
  private static func listen(at address: String, port: UInt16) throws -> (listener: Int32, port: Int) {
    let (picked, port) = try boundSocket(address, port: port, isShared: false)
    allowSharing(of: picked, true)
    let result = Result { try boundSocket(address, port: port, isShared: true) }
    close(picked)
    let listener = try result.get().socket
    // Share the port until here: a process being spawned by another test may still hold the first socket open.
    guard Glibc.listen(listener, 512) == 0 else {
      defer { close(listener) }
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
    allowSharing(of: listener, false)
    return (listener, Int(port))
  }

  /// A socket bound to a port of an address; 0 for any free one.
  private static func boundSocket(
    _ host: String, port: UInt16, isShared: Bool
  ) throws -> (socket: Int32, port: UInt16) {
    let bound = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard bound >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    if isShared { allowSharing(of: bound, true) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr(host)
    address.sin_port = port.bigEndian
    var length = socklen_t(MemoryLayout.size(ofValue: address))
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(bound, $0, length) == 0 && getsockname(bound, $0, &length) == 0
      }
    }
    guard isBound else {
      defer { close(bound) }
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
    return (bound, UInt16(bigEndian: address.sin_port))
  }

  /// Sets whether other sockets that also share may bind to the same port.
  private static func allowSharing(of socket: Int32, _ isAllowed: Bool) {
    var value: Int32 = isAllowed ? 1 : 0
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &value, socklen_t(MemoryLayout.size(ofValue: value)))
  }

  private static func serve(
    _ socket: Int32, log: OriginLog, handler: @escaping @Sendable (OriginRequest) -> OriginResponse
  ) {
    guard let number = log.opened(socket) else {
      close(socket)
      return
    }
    var yes: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout.size(ofValue: yes)))
    // A small buffer keeps the logged number of bytes sent close to what the client has received.
    var buffer: Int32 = 32 << 10
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, socklen_t(MemoryLayout.size(ofValue: buffer)))
    startThread(named: "origin-\(number)") {
      var connection = OriginConnection(socket: socket, number: number, log: log, handler: handler)
      connection.serve()
      log.closed(number)
      close(socket)
    }
  }

  private static func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.stackSize = 512 << 10
    thread.start()
  }
}
