import ArgumentParser
import Foundation
import HTTPServer
import HTTPTransport
import NIOCore
import Synchronization
import ThumbnailServer

/// A message to stderr that is written once.
private final class OneNotice: Sendable {
  private let wasSaid = Atomic(false)

  func say(_ message: @autoclosure () -> String) {
    if !wasSaid.exchange(true, ordering: .relaxed) { Console.standard.complain(message()) }
  }
}

/// The address that the server listens at, and its names.
struct ServerOptions: ParsableArguments {
  @Option("ADDRESS", "The address to listen on; 0.0.0.0 for all of this machine.", .naming("an address"))
  var host = "127.0.0.1"

  @Option("N", "The port to listen on; 0 for any free one.", .within(0...65_535, "give 0 to 65535"))
  var port = 8080

  @Option(
    "NAME",
    "A name by which the server is addressed, beside localhost and --host, such as the one that a proxy in front of it "
      + "passes on. May be given several times.", visibility: .hidden)
  var allowHost: [String] = []

  @Option(
    "ADDRESS[/BITS]",
    "A proxy whose X-Forwarded-For names the client of a request, for the shares of clients and the log. May be given "
      + "several times.", visibility: .hidden)
  var trustedProxy: [AddressRange] = []

  @Flag(help: "Open the page in the browser.")
  var open = false

  @Flag(
    help: ArgumentHelp(
      "Do not serve: end with 0 if a server at --host and --port is ready, such as in a container's health check.",
      visibility: .hidden))
  var check = false

  /// The time that running responses may take after the signal to end.
  var grace: Duration { .seconds(10) }

  /// The place to listen: the given address, or the socket that systemd passes.
  var listening: HTTPServer.Configuration {
    var listening = HTTPServer.Configuration(
      binding: SocketActivation.socket.map { .socket($0) } ?? .address(host: host, port: port))
    listening.isProxy = proxies.includes
    let notice = OneNotice()
    listening.client = { [proxies] peer, fields in
      if !proxies.includes(peer), fields.contains(name: "x-forwarded-for") {
        notice.say(
          "a request from \(peer) names its client in X-Forwarded-For; if that is a proxy of yours, all its clients count "
            + "as one until you name it: --trusted-proxy \(peer)")
      }
      return proxies.client(peer, fields)
    }
    return listening
  }

  /// The proxies that may name the clients of requests.
  var proxies: TrustedProxies { TrustedProxies(trustedProxy) }

  var configuration: ThumbnailServer.Configuration {
    var configuration = ThumbnailServer.Configuration()
    configuration.hosts.formUnion(allowHost.map { $0.lowercased() })
    configuration.hosts.insert(Self.bracketed(host).lowercased())
    return configuration
  }

  /// Whether the options make it unreachable for others: by an address of the machine, and by a proxy's name.
  var isPrivate: Bool {
    allowHost.isEmpty && SocketActivation.socket == nil
      && (host == "localhost" || host == "::1" || host.hasPrefix("127."))
  }

  /// Whether only this machine can reach it at an address.
  func isLocal(_ address: SocketAddress) -> Bool {
    guard let text = address.ipAddress else { return true }
    return text == "::1" || text.hasPrefix("127.")
  }

  func url(of address: SocketAddress) -> String {
    guard let text = address.ipAddress else { return "unix:\(address.pathname ?? "")" }
    let shown = SocketActivation.socket == nil ? host : text
    return "http://\(Self.bracketed(shown)):\(address.port ?? port)/"
  }

  /// The reason why the server cannot listen, and what to do.
  func message(of error: any Error) -> String {
    let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    return "\(host) port \(port) cannot be listened on: \(reason); choose another --port or --host"
  }

  private static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
