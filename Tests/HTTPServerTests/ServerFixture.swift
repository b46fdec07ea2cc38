import NIOHTTP1
import Synchronization

@testable import HTTPServer

/// A responder of a test: bodies of up to 1 MB, and what a closure responds.
final class TestResponder: HTTPResponder {
  static let longestBody = 1_000_000

  private let respond: @Sendable (ServerRequest) async -> ServerResponse
  private let record = Mutex<[ServerExchange]>([])
  private let started = Counter()

  init(_ respond: @escaping @Sendable (ServerRequest) async -> ServerResponse) { self.respond = respond }

  /// What was reported, in order.
  var exchanges: [ServerExchange] { record.withLock { $0 } }

  func bodyLimit(for head: HTTPRequestHead) -> Int { Self.longestBody }

  func timedResponse(to request: ServerRequest) -> TimedResponse {
    if request.path == "/now" { return .now(.text("now")) }
    return .later { [self] in
      started.increment()
      return await respond(request)
    }
  }

  /// The responses that were begun, but for those that were had at once.
  var begun: Int { started.value }

  func refusal(of status: HTTPResponseStatus, head: HTTPRequestHead?) -> ServerResponse { ServerResponse(status) }

  func finished(_ exchange: ServerExchange) { record.withLock { $0.append(exchange) } }
}

extension ServerResponse {
  static func text(_ text: String) -> ServerResponse {
    ServerResponse(.ok, body: .bytes(Data(text.utf8)))
  }
}

/// A server on a free port, with a responder of the test.
struct ServerFixture {
  let server: HTTPServer
  let responder: TestResponder
  let port: Int

  /// Responds with the method, the target and the length of the body, unless told otherwise.
  init(
    _ configure: (inout HTTPServer.Configuration) -> Void = { _ in },
    respond: @escaping @Sendable (ServerRequest) async -> ServerResponse = Self.echo
  ) async throws {
    var configuration = HTTPServer.Configuration(binding: .address(host: "127.0.0.1", port: 0))
    // On a busy machine a client of a test may be silent for longer than the server waits.
    configuration.idleTimeout = .hours(1)
    // Real time: only has to pass, as clients of the tests hold their side open.
    configuration.lingerTimeout = .milliseconds(100)
    configure(&configuration)
    responder = TestResponder(respond)
    server = HTTPServer(configuration, responder: responder)
    port = try #require(try await server.start().port)
  }

  /// The same with the standard limits.
  init(respond: @escaping @Sendable (ServerRequest) async -> ServerResponse) async throws {
    try await self.init({ _ in }, respond: respond)
  }

  static let echo: @Sendable (ServerRequest) async -> ServerResponse = {
    .text("\($0.method) \($0.target) \($0.body.readableBytes)")
  }

  func connect(from client: String = "127.0.0.1", receiveBuffer: Int32? = nil) throws -> RawConnection {
    try RawConnection(port: port, from: client, receiveBuffer: receiveBuffer)
  }

  /// Sends text over a connection of its own, and returns what comes until the server closes it.
  func exchange(_ text: String, from client: String = "127.0.0.1") async throws -> String {
    let connection = try connect(from: client)
    await connection.send(text)
    return await connection.readToEnd()
  }

  func stop() async { await server.stop(within: .seconds(60)) }
}

/// A request without a body.
func get(_ target: String, _ fields: String = "", version: String = "1.1", method: String = "GET") -> String {
  "\(method) \(target) HTTP/\(version)\r\nHost: localhost\r\n\(fields)\r\n"
}
