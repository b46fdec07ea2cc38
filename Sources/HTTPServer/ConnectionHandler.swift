import HTTPSemantics
import Foundation
import NIOCore
import NIOHTTP1

/// One connection: gathers a request, passes it to the responder, and writes the response. One request at a time:
/// further requests wait in NIO's pipelining handler until the client has received the response, so that a client that
/// only sends does not fill the memory with responses.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    /// Waits for a request.
    case idle
    /// Receives the body of a request.
    case receiving(HTTPRequestHead, limit: Int)
    /// A response is being made or written.
    case responding(Exchange)
    /// Discards further bytes: the connection closes after the written response.
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

  /// The step by which the memory for a body of unknown length grows.
  private static let reservationStep = 256 << 10

  private let configuration: HTTPServer.Configuration
  private let responder: any HTTPResponder
  private let memory: BodyMemory
  private let connections: ConnectionRegistry
  private var state = State.idle
  /// The received part of the body of a request. It is not part of the state, because reading the state copies it.
  private var body = ByteBuffer()
  /// Ends the connection when it passes. One timer serves all later deadlines.
  private var deadline: NIODeadline?
  private var timer: Scheduled<Void>?
  private var timerTime = NIODeadline.distantFuture
  private var task: Task<Void, Never>?
  private var context: ChannelHandlerContext?
  private let eventLoop: any EventLoop
  /// The address of the peer.
  private var peer = ""
  /// The client whose memory the request and its response count against.
  private var account = ""
  private var isEnding = false
  /// The bytes of `memory` that this connection holds, and its place in the queue for more.
  private var reservedBytes = 0
  private var memoryWait: (id: Int, byteCount: Int)?
  /// The rest of the response's body, and the bytes of it that were taken since the deadline was set.
  private var outgoing: OutgoingBody?
  private var takenBytes = 0
  /// The body in memory that is counted as sent by this connection.
  private var counted: Data?

  init(
    configuration: HTTPServer.Configuration, responder: any HTTPResponder, memory: BodyMemory,
    connections: ConnectionRegistry, on eventLoop: any EventLoop
  ) {
    (self.configuration, self.responder, self.memory) = (configuration, responder, memory)
    (self.connections, self.eventLoop) = (connections, eventLoop)
  }

  // MARK: Connection

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    peer = ClientNetwork.peer(of: context.channel)
    setDeadline(configuration.idleTimeout)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    task?.cancel()
    timer?.cancel()
    timer = nil
    releaseMemory()
    closeOutgoing()
    switch state {
    case .responding(var exchange):
      exchange.status = nil
      report(exchange)
    case .receiving(let head, _): report(Exchange(head: head, begun: .now(), keepsAlive: false))
    case .idle, .closing: break
    }
    state = .closing
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ConnectionRegistry.EndWhenIdle {
      isEnding = true
      // The end of the last response may still be on its way.
      if case .idle = state {
        context.close(mode: .output).assumeIsolated().whenComplete { [self] _ in close() }
      }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError else { return context.close(promise: nil) }
    let status: HTTPResponseStatus =
      switch error {
      case .headerOverflow: .requestHeaderFieldsTooLarge
      case .invalidVersion: .httpVersionNotSupported
      default: .badRequest
      }
    switch state {
    // The client has left in the middle of a request.
    case .idle where error == .invalidEOFState, .receiving where error == .invalidEOFState: close()
    case .idle, .receiving: refuse(status)
    // It is refused already.
    case .responding: break
    case .closing: close()
    }
  }

  // MARK: Request

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (unwrapInboundIn(data), state) {
    case (.head(let head), .idle): receive(head, context)
    case (.body(var bytes), .receiving(_, let limit)):
      body.writeBuffer(&bytes)
      if body.readableBytes > limit { return refuse(.payloadTooLarge) }
      if memoryWait == nil, let refusal = reserveMemory(for: body.readableBytes) { refuse(refusal.status) }
    case (.end, .receiving(let head, _)): respond(to: head)
    default: break
    }
  }

  private func receive(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    var head = head
    connections.setIdle(false, context.channel)
    account = ClientNetwork.name(of: configuration.client(peer, head.headers))
    let refusal = RequestHeadRules.normalise(&head)
    let limit = refusal == nil ? responder.bodyLimit(for: head) : 0
    state = .receiving(head, limit: limit)
    if let refusal { return refuse(refusal) }
    let stated = head.headers.first(name: "content-length").map { Int($0) ?? .max } ?? 0
    guard stated <= limit else { return refuse(.payloadTooLarge) }
    guard stated > 0 || head.headers.contains(name: "transfer-encoding") else { return }
    setDeadline(configuration.bodyTimeout)
    if reserveMemory(for: stated) == nil { prepareForBody() } else { waitForMemory(stated) }
  }

  /// Allocates the reserved memory, and sends `100 Continue` to a client that expects it.
  private func prepareForBody() {
    body.reserveCapacity(reservedBytes)
    guard case .receiving(let head, _) = state, body.readableBytes == 0, head.version.minor > 0,
      head.headers.first(name: "expect")?.lowercased() == "100-continue"
    else { return }
    context?.writeAndFlush(
      wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: .continue))), promise: nil)
  }

  /// Reserves the memory for a body of that length, if it is free. Otherwise returns the party whose part is used up.
  private func reserveMemory(for byteCount: Int) -> Shares.Refusal? {
    guard byteCount > reservedBytes else { return nil }
    // The first step is the announced length.
    let more = max(byteCount - reservedBytes, reservedBytes > 0 ? Self.reservationStep : 0)
    let refusal = memory.reserve(more, beyond: reservedBytes, for: account)
    if refusal == nil { reservedBytes += more }
    return refusal
  }

  /// Reads no more of the body until there is room for all of it.
  private func waitForMemory(_ byteCount: Int) {
    setReading(false)
    let handler = NIOLoopBound(self, eventLoop: eventLoop)
    let id = memory.wait(for: byteCount, of: account) { [eventLoop] in
      eventLoop.execute { handler.value.memoryGranted(byteCount) }
    }
    memoryWait = (id, byteCount)
  }

  private func memoryGranted(_ byteCount: Int) {
    // A connection that stopped waiting in the meantime has released it.
    guard memoryWait != nil else { return }
    memoryWait = nil
    reservedBytes += byteCount
    setDeadline(configuration.bodyTimeout)
    prepareForBody()
    setReading(true)
  }

  private func releaseMemory() {
    if let (id, byteCount) = memoryWait {
      memoryWait = nil
      // Otherwise it was granted, but not taken yet.
      if !memory.stopWaiting(id) { memory.release(byteCount, of: account) }
      setReading(true)
    }
    memory.release(reservedBytes, of: account)
    reservedBytes = 0
    body = ByteBuffer()
  }

  private func setReading(_ isOn: Bool) {
    // Fails only on a closed connection, which reads nothing any more.
    try? context?.channel.syncOptions?.setOption(.autoRead, value: isOn)
  }

  private func respond(to head: HTTPRequestHead) {
    guard let context else { return }
    let whole = body
    body = ByteBuffer()
    deadline = nil
    // The parser reads nothing more after a request for another protocol.
    let keepsAlive = head.isKeepAlive && !isEnding && !head.headers.contains(name: "upgrade")
    let begun = NIODeadline.now()
    let request = ServerRequest(
      head.method, head.uri, headers: head.headers, body: whole, client: configuration.client(peer, head.headers),
      isSecure: configuration.isProxy(peer) && head.headers["x-forwarded-proto"] == ["https"])
    state = .responding(Exchange(head: head, begun: begun, keepsAlive: keepsAlive))
    switch responder.timedResponse(to: request) {
    case .now(let response): write(response)
    case .later(let work):
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      task = connections.respond { [loop = context.eventLoop] in
        let response = await work()
        loop.execute { handler.value.write(response) }
      }
    }
  }

  /// Responds to a request that is not read to its end, and closes the connection.
  private func refuse(_ status: HTTPResponseStatus) {
    var head: HTTPRequestHead?
    if case .receiving(let received, _) = state { head = received }
    releaseMemory()
    state = .responding(Exchange(head: head, begun: .now(), keepsAlive: false))
    write(responder.refusal(of: status, head: head))
  }

  // MARK: Response

  private func write(_ response: ServerResponse) {
    task = nil
    guard let context, case .responding(var exchange) = state else {
      OutgoingBody(response.body)?.close()
      return
    }
    let isHead = exchange.head?.method == .HEAD
    var response = response
    let hasBody = !isHead && response.status.mayHaveResponseBody
    if hasBody, case .bytes(let bytes) = response.body {
      if let refusal = memory.beginSending(bytes, to: account) {
        response = responder.refusal(of: refusal.status, head: exchange.head)
      } else {
        counted = bytes
      }
    }
    let (body, length) = (OutgoingBody(response.body), response.body.length)
    exchange.status = response.status
    // Without a length, the end of the body is that of the connection, and the encoder would send it in response to
    // HEAD, too.
    if length == nil, isHead || exchange.head?.version.minor == 0 { exchange.keepsAlive = false }
    state = .responding(exchange)
    let taken = context.eventLoop.makePromise(of: Void.self)
    context.write(wrapOutboundOut(.head(head(of: response, exchange, length: length))), promise: taken)
    (takenBytes, deadline) = (0, nil)
    if hasBody, let writer = response.body.writer { return write(by: writer, context) }
    if hasBody, let body, length != 0 {
      outgoing = body
      return sendNextPart()
    }
    body?.close()
    setDeadline(configuration.writeTimeout)
    taken.futureResult.assumeIsolated().whenSuccess { [self] in finish() }
    context.flush()
  }

  private func head(of response: ServerResponse, _ exchange: Exchange, length: Int?) -> HTTPResponseHead {
    var headers = response.headers
    headers.add(name: "date", value: DateHeader.shared.value)
    if !exchange.keepsAlive {
      headers.add(name: "connection", value: "close")
    } else if exchange.head?.version.minor == 0 {
      headers.add(name: "connection", value: "keep-alive")
    }
    if let length, response.status.mayHaveResponseBody {
      headers.add(name: "content-length", value: String(length))
    }
    return HTTPResponseHead(version: exchange.head?.version ?? .http1_1, status: response.status, headers: headers)
  }

  /// Sends a part when the client has taken the one before it. Each `leastWritten` bytes have their own deadline.
  private func sendNextPart() {
    guard let (part, isLast) = outgoing?.next() else {
      // The client sees by the length that the rest does not come.
      closeOutgoing()
      context?.close(promise: nil)
      return
    }
    let length = part.readableBytes
    send(part, isLast: isLast) { handler in
      handler.takenBytes += length
      if !isLast { return handler.sendNextPart() }
      handler.closeOutgoing()
      handler.finish()
    }
  }

  private func closeOutgoing() {
    outgoing?.close()
    if let counted { memory.endSending(counted, to: account) }
    (outgoing, counted) = (nil, nil)
  }

  /// Sends the parts that a function writes, each once the client has taken the one before it.
  private func write(by writer: @escaping ServerResponse.Writer, _ context: ChannelHandlerContext) {
    context.flush()
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    task = connections.respond { [loop = context.eventLoop] in
      do {
        try await writer { part in
          try await loop.flatSubmit { handler.value.send(.byteBuffer(part)) { $0.deadline = nil } }.get()
        }
        loop.execute { handler.value.finish() }
      } catch {
        loop.execute { handler.value.close() }
      }
    }
  }

  /// Calls `next` once the client has taken the part.
  @discardableResult
  private func send(
    _ part: IOData, isLast: Bool = false, then next: @escaping (ConnectionHandler) -> Void
  ) -> EventLoopFuture<Void> {
    // The connection may have been closed in the meantime.
    guard let context, case .responding(var exchange) = state else {
      return eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
    }
    exchange.byteCount += part.readableBytes
    state = .responding(exchange)
    if isLast || deadline == nil || takenBytes >= configuration.leastWritten {
      takenBytes = 0
      setDeadline(configuration.writeTimeout)
    }
    let taken = context.eventLoop.makePromise(of: Void.self)
    context.write(wrapOutboundOut(.body(part)), promise: taken)
    taken.futureResult.assumeIsolated().whenSuccess { [self] in next(self) }
    // Only when the connection waits: otherwise each part would be sent from within the one before it.
    context.flush()
    return taken.futureResult
  }

  /// Ends the response, which the client has taken. With its end, the pipelining handler passes on the next request.
  private func finish() {
    guard let context, case .responding(let exchange) = state else { return }
    task = nil
    report(exchange)
    releaseMemory()
    let end = wrapOutboundOut(.end(nil))
    guard exchange.keepsAlive, !isEnding else {
      state = .closing
      setDeadline(configuration.writeTimeout)
      context.writeAndFlush(end, promise: nil)
      // If it closed at once, further bytes of the client would cause a reset, which can destroy the response.
      return context.close(mode: .output).assumeIsolated().whenSuccess { [self] in
        setDeadline(configuration.lingerTimeout)
      }
    }
    state = .idle
    connections.setIdle(true, context.channel)
    setDeadline(configuration.idleTimeout)
    context.writeAndFlush(end, promise: nil)
  }

  // MARK: Deadline

  private func setDeadline(_ time: TimeAmount) {
    let end = NIODeadline.now() + time
    deadline = end
    if timer == nil || timerTime > end { startTimer(until: end) }
  }

  private func startTimer(until end: NIODeadline) {
    timer?.cancel()
    timerTime = end
    let handler = NIOLoopBound(self, eventLoop: eventLoop)
    timer = eventLoop.scheduleTask(deadline: end) { handler.value.timerFired() }
  }

  private func timerFired() {
    timer = nil
    guard let deadline else { return }
    if deadline > .now() { return startTimer(until: deadline) }
    if case .receiving = state { return refuse(memoryWait == nil ? .requestTimeout : .serviceUnavailable) }
    close()
  }

  private func close() { context?.close(promise: nil) }

  private func report(_ exchange: Exchange) {
    responder.finished(
      ServerExchange(
        target: exchange.head?.uri ?? "", status: exchange.status, byteCount: exchange.byteCount,
        duration: .now() - exchange.begun))
  }
}
