import ArgumentParser
import Foundation
import HTTPServer
import HTTPTransport
import NIOCore
import ThumbnailServer

/// The address that the server listens at, and its names.
struct ServerOptions: ParsableArguments {
  @Option(
    "ADDRESS",
    "The address to listen on. (default: 127.0.0.1)", name: .customLong("host"), .naming("an address"))
  var givenHost: String?

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

  @Flag(
    help: ArgumentHelp(
      "Do not serve: end with 0 if a server at --host and --port is ready, such as in a container's health check.",
      visibility: .hidden))
  var check = false

  /// The address to listen on, or that of systemd's socket.
  var host: String { SocketActivation.address ?? givenHost ?? "127.0.0.1" }

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
    configuration.hosts.formUnion([host, givenHost ?? host].map { Self.bracketed($0).lowercased() })
    return configuration
  }

  /// Whether the options make it unreachable for others: by an address of the machine, and by a proxy's name.
  var isPrivate: Bool { allowHost.isEmpty && SocketActivation.socket == nil && isLoopback }

  /// Whether only this machine reaches the given address.
  var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

  /// Whether only this machine can reach it at an address.
  func isLocal(_ address: SocketAddress) -> Bool {
    guard let text = address.ipAddress else { return true }
    return text == "::1" || text.hasPrefix("127.")
  }

  /// The address of the page at a host.
  func url(of address: SocketAddress, host: String) -> String {
    guard address.ipAddress != nil else { return "unix:\(address.pathname ?? "")" }
    return "http://\(Self.bracketed(host)):\(address.port ?? port)/"
  }

  /// The addresses at which others reach this machine if it listens at all of them, interfaces of networks first; else
  /// the given one.
  var reachableHosts: [String] {
    guard host == "0.0.0.0" || host == "::" else { return [host] }
    let devices = ((try? System.enumerateDevices()) ?? []).filter { device in
      guard let text = device.address?.ipAddress, let address = IPAddress(text) else { return false }
      return (host == "::" || text.contains(".")) && ![.loopback, .linkLocal].contains(AddressClass(address))
    }
    // Others lead to containers.
    let isUsual = { (device: NIONetworkDevice) in ["en", "eth", "wl"].contains { device.name.hasPrefix($0) } }
    let addresses = (devices.filter(isUsual) + devices.filter { !isUsual($0) }).compactMap { $0.address?.ipAddress }
    return addresses.isEmpty ? [host] : addresses
  }

  /// The reason why the server cannot listen, and what to do.
  func message(of error: any Error) -> String {
    let code = (error as? IOError)?.errnoCode
    switch code ?? (error is SocketAddressError.UnknownHost ? EADDRNOTAVAIL : 0) {
    case EADDRINUSE:
      return "port \(port) of \(host) is in use by another program; choose another --port, or --port 0 for any free one"
    case EACCES:
      return "port \(port) is for root and programs with CAP_NET_BIND_SERVICE; choose a --port of at least 1024"
    case EADDRNOTAVAIL:
      return
        "\(host) is no address of this machine; --host 127.0.0.1 is for this machine alone, 0.0.0.0 for all networks"
    default:
      let reason = code.map { String(cString: strerror($0)) } ?? "\(error)"
      return "\(host) port \(port) cannot be listened on: \(reason); choose another --port or --host"
    }
  }

  private static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
