import HTTPServer
package import HTTPTransport
package import NIOHTTP1

/// The proxies that are believed when they name the client of a request in `X-Forwarded-For`.
///
/// Each proxy adds the address that it was asked from to the end of the field. So the client is the last address that is
/// no proxy's: what is before it may be invented.
package struct TrustedProxies: Sendable {
  private let ranges: [AddressRange]
  /// Further addresses are not looked at: nobody has so many proxies.
  private static let mostAddresses = 32

  /// - Parameter ranges: The addresses of the proxies.
  package init(_ ranges: [AddressRange]) { self.ranges = ranges }

  /// The client of a request from the address `peer`; that of a Unix socket is always a proxy.
  package func client(_ peer: String, _ headers: HTTPHeaders) -> String {
    guard includes(peer) else { return peer }
    let named = headers["x-forwarded-for"].joined(separator: ",").split(separator: ",").suffix(Self.mostAddresses)
    var client = peer
    for text in named.reversed() {
      let text = ClientNetwork.plain(Self.withoutPort(text.trimmingPrefix { $0 == " " || $0 == "\t" }))
      // Something else than an address was not written by a proxy of ours.
      guard let address = IPAddress(text) else { return client }
      client = text
      if !isTrusted(address) { return client }
    }
    return client
  }

  /// Whether connections from an address are those of a proxy.
  package func includes(_ peer: String) -> Bool {
    !ranges.isEmpty && (peer == Self.unixSocket || IPAddress(peer).map(isTrusted) ?? false)
  }

  /// What connections through a Unix socket come from.
  private static let unixSocket = "local"

  private func isTrusted(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

  /// Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
  private static func withoutPort(_ text: Substring) -> String {
    let text = text.prefix { $0 != " " && $0 != "\t" }
    if text.first == "[" { return String(text.dropFirst().prefix { $0 != "]" }) }
    let isIPv4WithPort = text.contains(".") && text.filter { $0 == ":" }.count == 1
    return String(isIPv4WithPort ? text.prefix { $0 != ":" } : text)
  }
}
