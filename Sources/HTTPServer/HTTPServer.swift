// The module HTTPServer: HTTP/1.1 on SwiftNIO, and nothing about images.

package import NIOCore
package import NIOHTTP1
import Foundation
import HTTPSemantics
import NIOPosix
import Synchronization

/// An HTTP/1.1 server: accepts connections, reads requests within limits, and writes the responses of its responder.
///
/// TLS and HTTP/2 are left to a proxy in front.
package final class HTTPServer: Sendable {
  /// The time that a stopping server waits for cancelled work.
  private static let cancellationLimit = Duration.seconds(5)
  /// One client has at most a quarter of the connections, and of the memory of bodies.
  package static let clientPart = 4

  /// The most unsent bytes of a response that the kernel may hold: without a limit, megabytes for each slow client.
  private static let unsentBytes = ChannelOptions.Types.SocketOption(
    level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT))
  private static let mostUnsentBytes: ChannelOptions.Types.SocketOption.Value = 64 << 10

  private let configuration: Configuration
  private let responder: any HTTPResponder
  private let group: MultiThreadedEventLoopGroup
  /// Accepts connections in a thread of its own, so that none waits behind the requests of others.
  private let acceptor = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let connections: ConnectionRegistry
  let memory: BodyMemory
  private let listener = Mutex<(any Channel)?>(nil)

  /// A server that does not listen yet.
  package init(_ configuration: Configuration, responder: any HTTPResponder) {
    self.configuration = configuration
    self.responder = responder
    group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.threads)
    let part = Self.clientPart
    connections = ConnectionRegistry(
      limit: configuration.maximumConnections, most: configuration.maximumConnections / part)
    memory = BodyMemory(capacity: configuration.bodyMemory, most: configuration.bodyMemory / part)
  }

  /// Listens, and returns the address that it listens on.
  ///
  /// - Throws: The system's error, such as a port that is in use.
  package func start() async throws -> SocketAddress {
    let bootstrap = ServerBootstrap(group: acceptor, childGroup: group)
      .serverChannelOption(.backlog, value: 4096)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // Many connections may come at once; they are accepted in one go.
      .serverChannelOption(.maxMessagesPerRead, value: 64)
      .childChannelInitializer { [configuration, responder, connections, memory] channel in
        let peer = ClientNetwork.peer(of: channel)
        let client = configuration.isProxy(peer) ? nil : ClientNetwork.name(of: peer)
        return channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          do throws(Shares.Refusal) {
            try connections.insert(channel, client: client)
          } catch {
            // It is closed before it belongs to an event loop, because many may come.
            try pipeline.withUnsafeTransportIfAvailable { error.respond(on: $0) }
            throw error
          }
          let options = channel.syncOptions
          // Not an error if a connection lacks the option, as a Unix socket does.
          try? options?.setOption(.tcpOption(.tcp_nodelay), value: 1)
          try? options?.setOption(Self.unsentBytes, value: Self.mostUnsentBytes)
          try options?.setOption(.writeBufferWaterMark, value: .init(low: 32 << 10, high: 128 << 10))
          let check = RequestLineCheck()
          try pipeline.addHandlers(
            HTTPResponseEncoder(), check,
            ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: RequestHeadRules.limits)),
            RequestLineCheck.End(of: check),
            HTTPServerPipelineHandler(),
            NIOHTTPResponseHeadersValidator(),
            ConnectionHandler(
              configuration: configuration, responder: responder, memory: memory, connections: connections,
              on: channel.eventLoop))
        }
      }
    let channel: any Channel
    do {
      channel =
        switch configuration.binding {
        case .address(let host, let port): try await bootstrap.bind(host: host, port: port).get()
        case .socket(let descriptor): try await bootstrap.withBoundSocket(descriptor).get()
        }
    } catch {
      try? await shutDown()
      throw error
    }
    listener.withLock { $0 = channel }
    guard let address = channel.localAddress else { throw ChannelError.unknownLocalAddress }
    return address
  }

  /// The number of open connections.
  package var openConnections: Int { connections.count }

  /// Accepts no more connections, closes idle ones at once, and those in use after their responses.
  package func beginStopping() async {
    let listening = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    try? await listening?.close()
    connections.endWhenIdle()
  }

  /// Begins to stop, and waits at most `time` until the connections in use have received their responses. Then it
  /// closes them, which cancels their work, and waits at most 5 s for the end of that.
  package func stop(within time: Duration) async {
    await beginStopping()
    await connections.waitUntilEmpty(for: time)
    connections.closeAll()
    // Otherwise a response would return to an event loop that has ended.
    await connections.waitUntilEmpty(for: Self.cancellationLimit)
    try? await shutDown()
  }

  private func shutDown() async throws {
    try await acceptor.shutdownGracefully()
    try await group.shutdownGracefully()
  }
}

extension HTTPServer {
  /// The address of a server, and its limits.
  package struct Configuration: Sendable {
    /// The place where a server listens.
    package enum Binding: Sendable, Hashable {
      /// A host name or address, and a port; 0 for any free one.
      case address(host: String, port: Int)
      /// A socket that listens already, as systemd passes it.
      case socket(Int32)
    }

    /// The place where it listens.
    package var binding: Binding
    /// The number of threads that read and write. Default: two, as most time passes elsewhere.
    package var threads = 2
    /// The most open connections. If all are used, the longest idle one makes room. Default: 8,192.
    package var maximumConnections = 8192
    /// The time that a connection may be open without a whole request head. Default: 60 s.
    package var idleTimeout = TimeAmount.seconds(60)
    /// The longest time for the body of a request. Default: 120 s.
    package var bodyTimeout = TimeAmount.seconds(120)
    /// The time in which a client has to accept `leastWritten` bytes of a response, its rest, or a part of a stream.
    /// Default: 30 s.
    package var writeTimeout = TimeAmount.seconds(30)
    /// The bytes of a response that a client has to accept in each `writeTimeout`. Default: 120 KiB, 4 KiB a second.
    package var leastWritten = 120 << 10
    /// The time in which a client has to close a connection after the last response. Default: 2 s.
    package var lingerTimeout = TimeAmount.seconds(2)
    /// The client of a request, from the peer's address and the header fields: a proxy names its client. Default: the
    /// peer.
    package var client: @Sendable (String, HTTPHeaders) -> String = { address, _ in address }
    /// Whether an address is that of a proxy, which may have any number of connections. Default: none is.
    package var isProxy: @Sendable (String) -> Bool = { _ in false }
    /// The most bytes of the bodies of all requests and responses together. Default: 128 MiB.
    package var bodyMemory = 128 << 20

    /// The defaults for a binding.
    package init(binding: Binding) { self.binding = binding }
  }
}
