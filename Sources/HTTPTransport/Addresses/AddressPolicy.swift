import HTTPSemantics

/// Which addresses connections may be made to, for programs that fetch URLs which strangers give (docs/addresses.md).
///
///     configuration.addresses = .publicOnly
///     configuration.addresses.allowed = [try AddressRange("10.20.0.0/16")]
public struct AddressPolicy: Hashable, Sendable {
  /// All addresses, as suits URLs that the user has chosen.
  public static let any = AddressPolicy(isPublicOnly: false)
  /// Addresses on the public internet alone: not this machine, nor its networks, nor what is reserved or special.
  public static let publicOnly = AddressPolicy(isPublicOnly: true)

  /// Whether only public addresses are allowed, apart from `allowed`.
  package let isPublicOnly: Bool
  /// Allowed although not public, such as an image server of one's own. Default: none.
  public var allowed: [AddressRange] = []
  /// Refused in any case, also where `allowed` contains them: public addresses that are only meant for some, such as this
  /// machine's own, or a NAT64 prefix of the network's own. Default: none.
  public var refused: [AddressRange] = []

  private init(isPublicOnly: Bool) { self.isPublicOnly = isPublicOnly }

  /// Whether it refuses any address.
  public var isGuarded: Bool { isPublicOnly || !refused.isEmpty }

  /// Whether a connection may be made to an address.
  ///
  /// An HTTP client of the program's own calls this for the address that it connects to, not for what a name resolved to
  /// before. An IPv4 address that an IPv6 address only wraps is looked up in both forms.
  public func allows(_ address: IPAddress) -> Bool {
    let forms = [address] + (address.embedded.map { [$0] } ?? [])
    func isIn(_ ranges: [AddressRange]) -> Bool { ranges.contains { range in forms.contains(where: range.contains) } }
    if isIn(refused) { return false }
    return !isPublicOnly || AddressClass(address) == .public || isIn(allowed)
  }
}

extension DownloadConfiguration {
  /// Whether each address is checked as a connection to it is made. Not with a proxy that the program has named: all
  /// connections go to the proxy then, wherever that is, and it alone sees the addresses behind it.
  var checksSockets: Bool {
    if case .url(let proxy) = proxy, !proxy.isEmpty { return false }
    return addresses.isGuarded
  }
}

extension Transfer {
  /// Refuses a host that is written as an address, before it is known to anything else: neither its state nor a proxy
  /// matters then. Names, and addresses in odd spellings that only the resolver reads, are left to `SocketGuard`.
  func checkHost() throws(DownloadError) {
    guard configuration.addresses.isGuarded else { return }
    // To a proxy, these are the proxy's own machine (RFC 6761).
    let isProxysOwn = !configuration.checksSockets && url.namesLocalhost
    guard let address = url.address ?? (isProxysOwn ? .v4(0x7f00_0001) : nil) else { return }
    if configuration.addresses.allows(address) { return }
    logRefusal(of: address)
    throw addressRefused
  }

  /// Tells the operator what the error does not tell. Nil is for something that is no IP address.
  func logRefusal(of address: IPAddress?) {
    let address = address.map { "\($0) (\(AddressClass($0).rawValue))" } ?? "no IP address"
    configuration.logger.debug("refused to connect to \(address) for \(url.site)")
  }

  /// The error for an address that is not allowed. After redirects it names the host that was asked for, since the
  /// others are no business of who asked.
  var addressRefused: DownloadError {
    let host = CurlURL(request.url.absoluteString)?.host ?? ""
    let last = host.split(separator: ".").last
    // As in the URL standard, a host whose last part begins with a digit is an address, in whatever spelling.
    let isAddress = host.contains(":") || last?.first?.isNumber ?? true
    return .addressRefused(host: isAddress ? nil : host)
  }
}

extension DownloadError {
  /// One line for people about `addressRefused`.
  package static func addressRefusal(_ host: String?) -> String {
    "\(host ?? "it") leads to an address that is not public"
  }
}

extension CurlURL {
  /// The host, if it is an address. libcurl has put short, octal and hexadecimal spellings into the usual one.
  var address: IPAddress? {
    var text = host[...]
    if text.hasPrefix("[") { text = text.dropFirst().prefix { $0 != "]" && $0 != "%" } }
    while text.hasSuffix(".") { text.removeLast() }
    return IPAddress(String(text))
  }

  /// Whether the host is `localhost`, or a name below it.
  var namesLocalhost: Bool { host.split(separator: ".").last == "localhost" }
}
