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
