import ThumbnailCore

/// The addresses that may be connected to, for programs that fetch URLs from strangers (docs/addresses.md).
///
///     configuration.addresses = .publicOnly
///     configuration.addresses.allowed = [try AddressRange("10.20.0.0/16")]
public struct AddressPolicy: Hashable, Sendable {
  /// All addresses: for URLs that the user has chosen.
  public static let any = AddressPolicy(isPublicOnly: false)
  /// Addresses on the public internet only: not this machine, its networks, or reserved and special ranges.
  public static let publicOnly = AddressPolicy(isPublicOnly: true)

  /// Whether only public addresses and those in `allowed` are allowed.
  package let isPublicOnly: Bool
  /// Addresses that are allowed although they are not public, such as the program's own image server. Default: none.
  public var allowed: [AddressRange] = []
  /// Addresses that are always refused, even if `allowed` contains them: public addresses with restricted access, such
  /// as this machine's own, or the network's own NAT64 prefix. Default: none.
  public var refused: [AddressRange] = []

  private init(isPublicOnly: Bool) { self.isPublicOnly = isPublicOnly }

  /// Whether it refuses any address.
  package var isGuarded: Bool { isPublicOnly || !refused.isEmpty }

  /// Whether a connection may be made to an address.
  ///
  /// The program's own HTTP client calls this with the address that it connects to, because a name may resolve to
  /// another address later. An IPv4-mapped IPv6 address is checked in both forms.
  package func allows(_ address: IPAddress) -> Bool {
    let forms = [address] + (address.embedded.map { [$0] } ?? [])
    func isIn(_ ranges: [AddressRange]) -> Bool { ranges.contains { range in forms.contains(where: range.contains) } }
    if isIn(refused) { return false }
    return !isPublicOnly || AddressClass(address) == .public || isIn(allowed)
  }
}

extension DownloadConfiguration {
  /// Whether each address is checked when a connection to it is opened. False with a proxy that the program has named:
  /// then all connections go to the proxy, and only the proxy sees the addresses behind it.
  var checksSockets: Bool {
    if case .url(let proxy) = proxy, !proxy.isEmpty { return false }
    return addresses.isGuarded
  }
}

extension Transfer {
  /// Refuses a host that is written as an IP address, before anything else uses it, so its state and the proxy do not
  /// matter. `SocketGuard` checks names, and addresses in spellings that only the resolver reads.
  func checkHost() throws(DownloadError) {
    guard configuration.addresses.isGuarded else { return }
    // A proxy resolves these names to its own machine (RFC 6761).
    let isProxysOwn = !configuration.checksSockets && url.namesLocalhost
    guard let address = url.address ?? (isProxysOwn ? .v4(0x7f00_0001) : nil) else { return }
    if configuration.addresses.allows(address) { return }
    logRefusal(of: address)
    throw addressRefused
  }

  /// Logs the refused address for the operator, since the error does not name it. Nil stands for a socket address that
  /// is not an IP address.
  func logRefusal(of address: IPAddress?) {
    let address = address.map { "\($0) (\(AddressClass($0).rawValue))" } ?? "no IP address"
    Log.download.debug("refused to connect to \(address) for \(url.site)")
  }

  /// The error for an address that is not allowed. After redirects it names the requested host only, so that the client
  /// does not learn the others.
  var addressRefused: DownloadError {
    let host = CurlURL(request.url.absoluteString)?.host ?? ""
    let last = host.split(separator: ".").last
    // As in the URL standard, a host whose last part begins with a digit is an IP address in some spelling.
    let isAddress = host.contains(":") || last?.first?.isNumber ?? true
    return .addressRefused(host: isAddress ? nil : host)
  }
}

extension DownloadError {
  /// The message of `addressRefused`, in one line.
  package static func addressRefusal(_ host: String?) -> String {
    "\(host ?? "it") leads to an address that is not public"
  }
}

extension CurlURL {
  /// The host, if it is an IP address. libcurl has normalised short, octal and hexadecimal spellings.
  var address: IPAddress? {
    var text = host[...]
    if text.hasPrefix("[") { text = text.dropFirst().prefix { $0 != "]" && $0 != "%" } }
    while text.hasSuffix(".") { text.removeLast() }
    return IPAddress(String(text))
  }

  /// Whether the host is `localhost`, or a name below it.
  var namesLocalhost: Bool { host.split(separator: ".").last == "localhost" }
}
