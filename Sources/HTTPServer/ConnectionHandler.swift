import NIOCore
import NIOHTTP1

/// One connection: gathers a request, has it responded to, and writes the response. One request at a time; what a client
/// sends ahead waits in NIO's pipelining handler.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    /// Waits for a request.
    case idle
    /// Receives the body of a request.
    case receiving(HTTPRequestHead, ByteBuffer, limit: Int)
    /// A response is being made or written.
    case responding(Exchange)
    /// Discards what still comes: the connection closes after the response that was written.
    case closing
  }

  /// A request that is being responded to.
  private struct Exchange {
    let head: HTTPRequestHead?
    let begun: NIODeadline
    var status: HTTPResponseStatus?
    var byteCount = 0
    var keepsAlive: Bool
  }

  private static let mostPostponedBytes = 64 << 10

  private let configuration: HTTPServer.Configuration
  private let responder: any HTTPResponder
  private var state = State.idle
  /// Ends the connection when it passes; one timer follows it, however often it is moved.
  private var deadline: NIODeadline?
  private var timer: Scheduled<Void>?
  private var task: Task<Void, Never>?
  private var context: ChannelHandlerContext?
  private let eventLoop: any EventLoop
  private var client = ""
  private var postponed: [HTTPServerRequestPart] = []
  private var postponedBytes = 0
  private var isEnding = false

  init(configuration: HTTPServer.Configuration, responder: any HTTPResponder, on eventLoop: any EventLoop) {
    (self.configuration, self.responder, self.eventLoop) = (configuration, responder, eventLoop)
  }

  // MARK: Connection

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    client = context.remoteAddress?.ipAddress ?? "local"
    setDeadline(configuration.idleTimeout)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    task?.cancel()
    timer?.cancel()
    timer = nil
    if case .responding(var exchange) = state {
      state = .closing
      exchange.status = nil
      report(exchange)
    }
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ConnectionRegistry.EndWhenIdle {
      isEnding = true
      if case .idle = state { context.close(promise: nil) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError, case .idle = state else { return context.close(promise: nil) }
    refuse(error == .headerOverflow ? .requestHeaderFieldsTooLarge : .badRequest)
  }

  // MARK: Request

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { take(unwrapInboundIn(data)) }

  private func take(_ part: HTTPServerRequestPart) {
    switch (part, state) {
    case (.head(let head), .idle): receive(head)
    case (.body(var bytes), .receiving(let head, var body, let limit)):
      // Taken out of the state, so that appending does not copy.
      state = .idle
      body.writeBuffer(&bytes)
      if body.readableBytes > limit { return refuse(.payloadTooLarge, of: head) }
      state = .receiving(head, body, limit: limit)
    case (.end, .receiving(let head, let body, _)): respond(to: head, body)
    case (_, .responding(let exchange)) where exchange.keepsAlive: postpone(part)
    default: break
    }
  }

  /// Keeps the beginning of the next request until the client has taken the last response: one that only sends must not
  /// fill the memory with responses.
  private func postpone(_ part: HTTPServerRequestPart) {
    if case .body(let bytes) = part { postponedBytes += bytes.readableBytes }
    guard postponedBytes <= Self.mostPostponedBytes else { return close() }
    postponed.append(part)
  }

  private func receive(_ head: HTTPRequestHead) {
    guard head.uri.utf8.count <= configuration.maximumTargetLength else { return refuse(.uriTooLong, of: head) }
    guard head.uri.utf8.first == UInt8(ascii: "/") || head.method == .OPTIONS else {
      return refuse(.badRequest, of: head)
    }
    let limit = responder.bodyLimit(for: head)
    let stated = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
    guard stated <= limit else { return refuse(.payloadTooLarge, of: head) }
    if stated > 0 || head.headers.contains(name: "transfer-encoding") {
      setDeadline(configuration.bodyTimeout)
      if head.headers.first(name: "expect")?.lowercased() == "100-continue" {
        context?.writeAndFlush(
          wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: .continue))), promise: nil)
      }
    }
    state = .receiving(head, ByteBuffer(), limit: limit)
  }

  private func respond(to head: HTTPRequestHead, _ body: ByteBuffer) {
    guard let context else { return }
    deadline = nil
    let keepsAlive = head.isKeepAlive && !isEnding
    state = .responding(Exchange(head: head, begun: .now(), keepsAlive: keepsAlive))
    let request = ServerRequest(head.method, head.uri, headers: head.headers, body: body, client: client)
    if let response = responder.immediateResponse(to: request) { return write(response) }
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    task = Task { [responder, loop = context.eventLoop] in
      let response = await responder.response(to: request)
      loop.execute { handler.value.write(response) }
    }
  }

  /// Responds to a request that is not read to its end, and closes the connection.
  private func refuse(_ status: HTTPResponseStatus, of head: HTTPRequestHead? = nil) {
    state = .responding(Exchange(head: head, begun: .now(), keepsAlive: false))
    write(responder.refusal(of: status))
  }

  // MARK: Response

  private func write(_ response: ServerResponse) {
    task = nil
    guard let context, case .responding(var exchange) = state else {
      if case .file(let file, _) = response.body { try? file.close() }
      return
    }
    exchange.status = response.status
    state = .responding(exchange)
    var headers = response.headers
    headers.add(name: "date", value: DateHeader.shared.value)
    if !exchange.keepsAlive {
      headers.add(name: "connection", value: "close")
    } else if exchange.head?.version.minor == 0 {
      headers.add(name: "connection", value: "keep-alive")
    }
    let length: Int? =
      switch response.body {
      case .bytes(let bytes): bytes.readableBytes
      case .file(_, let length): length
      case .stream: nil
      }
    let hasBody = exchange.head?.method != .HEAD && response.status.mayHaveResponseBody
    if let length, response.status.mayHaveResponseBody {
      headers.add(name: "content-length", value: String(length))
    }
    let head = HTTPResponseHead(
      version: exchange.head?.version ?? .http1_1, status: response.status, headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    switch response.body {
    case .bytes(let bytes) where hasBody && bytes.readableBytes > 0:
      context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
      finish(byteCount: bytes.readableBytes)
    case .file(let file, let length) where hasBody && length > 0:
      let region = FileRegion(fileHandle: file, readerIndex: 0, endIndex: length)
      let written = context.eventLoop.makePromise(of: Void.self)
      written.futureResult.whenComplete { _ in try? file.close() }
      context.write(wrapOutboundOut(.body(.fileRegion(region))), promise: written)
      finish(byteCount: length)
    case .file(let file, _):
      try? file.close()
      finish(byteCount: 0)
    case .stream(let parts) where hasBody: stream(parts, context)
    case .bytes, .stream: finish(byteCount: 0)
    }
  }

  /// Sends the parts of a stream, each once the client has taken the one before it.
  private func stream(_ parts: AsyncStream<ByteBuffer>, _ context: ChannelHandlerContext) {
    context.flush()
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    task = Task { [loop = context.eventLoop] in
      for await part in parts {
        let sent = loop.flatSubmit { handler.value.send(part) }
        guard (try? await sent.get()) != nil else { return }
      }
      loop.execute { handler.value.finish(byteCount: 0) }
    }
  }

  private func send(_ part: ByteBuffer) -> EventLoopFuture<Void> {
    // The connection may have been closed in the meantime.
    guard let context, case .responding(var exchange) = state else {
      return eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
    }
    exchange.byteCount += part.readableBytes
    state = .responding(exchange)
    setDeadline(configuration.writeTimeout)
    let sent = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(part))), promise: sent)
    sent.futureResult.assumeIsolated().whenSuccess { [self] in deadline = nil }
    return sent.futureResult
  }

  /// Ends the response. The next request waits until the client has taken it.
  private func finish(byteCount: Int) {
    guard let context, case .responding(var exchange) = state else { return }
    task = nil
    exchange.byteCount += byteCount
    state = .responding(exchange)
    setDeadline(configuration.writeTimeout)
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenSuccess { [self] in endExchange() }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
  }

  private func endExchange() {
    guard case .responding(let exchange) = state else { return }
    report(exchange)
    guard exchange.keepsAlive, !isEnding else {
      state = .closing
      // Closed at once, what the client still sends would be responded to with a reset, which can cost it the response.
      context?.close(mode: .output, promise: nil)
      return setDeadline(configuration.lingerTimeout)
    }
    state = .idle
    setDeadline(configuration.idleTimeout)
    let parts = postponed
    (postponed, postponedBytes) = ([], 0)
    for part in parts { take(part) }
  }

  // MARK: Deadline

  private func setDeadline(_ time: TimeAmount) {
    deadline = .now() + time
    if timer == nil { startTimer(in: time) }
  }

  private func startTimer(in time: TimeAmount) {
    let handler = NIOLoopBound(self, eventLoop: eventLoop)
    timer = eventLoop.scheduleTask(in: time) { handler.value.timerFired() }
  }

  private func timerFired() {
    timer = nil
    guard let deadline else { return }
    let rest = deadline - .now()
    if rest > .zero { return startTimer(in: rest) }
    if case .receiving(let head, _, _) = state { return refuse(.requestTimeout, of: head) }
    close()
  }

  private func close() { context?.close(promise: nil) }

  private func report(_ exchange: Exchange) {
    responder.finished(
      ServerExchange(
        client: client, method: exchange.head?.method, target: exchange.head?.uri ?? "",
        userAgent: exchange.head?.headers.first(name: "user-agent"), status: exchange.status,
        byteCount: exchange.byteCount, duration: .now() - exchange.begun))
  }
}
