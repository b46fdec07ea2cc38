/// The purpose of an address. Only `.public` addresses are reachable from the whole internet.
package enum AddressClass: String, Sendable, CaseIterable {
  case `public`
  /// 0.0.0.0/8 and ::. A connection to 0.0.0.0 or :: reaches this machine.
  case unspecified
  /// 127.0.0.0/8 and ::1: this machine.
  case loopback
  /// Networks of homes and companies.
  case `private`
  /// Networks between a provider and its customers (carrier-grade NAT).
  case shared
  /// Addresses on the same link only.
  case linkLocal
  /// Services that give credentials to machines in a cloud. Some clouds use link-local, shared or private addresses for
  /// this.
  case metadata
  /// Addresses of IETF protocols, and of anycast services that each network may run itself.
  case protocols
  case documentation
  case benchmarking
  case multicast
  /// An IPv6 address that holds an IPv4 address, which a tunnel or translator would reach.
  case embedded
  /// Not assigned.
  case reserved

  /// Classifies an address by its bytes.
  package init(_ address: IPAddress) {
    if let inner = address.embedded {
      self.init(inner)
    } else if case .v6(let bits) = address, (bits >> 32 & 0xfdff_ffff) == 0x5efe {
      // ISATAP (RFC 5214) may use any prefix, so it is recognised by its interface identifier.
      self = .embedded
    } else if let entry = Self.ranges.first(where: { $0.range.contains(address) }) {
      self = entry.class
    } else if case .v6 = address, !Self.globalUnicast.contains(address) {
      // Only 2000::/3 of IPv6 is assigned for global use. Any other range is special until we know better.
      self = .reserved
    } else {
      self = .public
    }
  }

  private static let globalUnicast = AddressRange(groups: [0x2000], bits: 3)

  /// The registries of special-purpose addresses (RFC 6890; iana.org/assignments/iana-ipv4-special-registry and
  /// iana-ipv6-special-registry, 2025), the registries of multicast and unassigned blocks, and the addresses that
  /// clouds use. Globally reachable entries are refused as well, because they serve no images. The first range that
  /// contains an address decides.
  private static let ranges: [(range: AddressRange, class: AddressClass)] = [
    (.init(0, 0, 0, 0, bits: 8), .unspecified),  // RFC 791, 1122
    (.init(10, 0, 0, 0, bits: 8), .private),  // RFC 1918
    (.init(100, 64, 0, 0, bits: 10), .shared),  // RFC 6598; 100.100.100.200 is Alibaba's metadata
    (.init(127, 0, 0, 0, bits: 8), .loopback),  // RFC 1122
    (.init(168, 63, 129, 16, bits: 32), .metadata),  // Azure's own services, in its public space
    (.init(169, 254, 169, 254, bits: 32), .metadata),  // AWS, Google, Azure and most others
    (.init(169, 254, 0, 0, bits: 16), .linkLocal),  // RFC 3927
    (.init(172, 16, 0, 0, bits: 12), .private),  // RFC 1918
    (.init(192, 0, 0, 0, bits: 24), .protocols),  // RFC 6890; 192.0.0.192 is Oracle's metadata
    (.init(192, 0, 2, 0, bits: 24), .documentation),  // RFC 5737
    (.init(192, 31, 196, 0, bits: 24), .protocols),  // AS112, RFC 7535
    (.init(192, 52, 193, 0, bits: 24), .protocols),  // AMT, RFC 7450
    (.init(192, 88, 99, 0, bits: 24), .protocols),  // relays of 6to4, RFC 7526
    (.init(192, 168, 0, 0, bits: 16), .private),  // RFC 1918
    (.init(192, 175, 48, 0, bits: 24), .protocols),  // AS112, RFC 7534
    (.init(198, 18, 0, 0, bits: 15), .benchmarking),  // RFC 2544
    (.init(198, 51, 100, 0, bits: 24), .documentation),  // RFC 5737
    (.init(203, 0, 113, 0, bits: 24), .documentation),  // RFC 5737
    (.init(224, 0, 0, 0, bits: 4), .multicast),  // RFC 5771
    (.init(240, 0, 0, 0, bits: 4), .reserved),  // RFC 1112; with the broadcast address
    (.init(groups: [], bits: 128), .unspecified),  // RFC 4291
    (.init(groups: [0, 0, 0, 0, 0, 0, 0, 1], bits: 128), .loopback),  // RFC 4291
    (.init(groups: [], bits: 96), .embedded),  // compatible addresses, RFC 4291
    (.init(groups: [0, 0, 0, 0, 0xffff], bits: 96), .embedded),  // translated ones, RFC 2765
    (.init(groups: [0x64, 0xff9b, 1], bits: 48), .embedded),  // local NAT64, RFC 8215
    (.init(groups: [0x100], bits: 64), .reserved),  // discarded, RFC 6666
    (.init(groups: [0x2001], bits: 32), .embedded),  // Teredo, RFC 4380
    (.init(groups: [0x2001, 2], bits: 48), .benchmarking),  // RFC 5180
    (.init(groups: [0x2001], bits: 23), .protocols),  // RFC 2928; with ORCHID
    (.init(groups: [0x2001, 0xdb8], bits: 32), .documentation),  // RFC 3849
    (.init(groups: [0x2002], bits: 16), .embedded),  // 6to4, RFC 3056
    (.init(groups: [0x2620, 0x4f, 0x8000], bits: 48), .protocols),  // AS112, RFC 7534
    (.init(groups: [0x3ffe], bits: 16), .reserved),  // returned by the 6bone, RFC 3701
    (.init(groups: [0x3fff], bits: 20), .documentation),  // RFC 9637
    (.init(groups: [0x5f00], bits: 16), .protocols),  // segment routing, RFC 9602
    (.init(groups: [0xfd00, 0xec2], bits: 32), .metadata),  // AWS
    (.init(groups: [0xfd20, 0xce], bits: 32), .metadata),  // Google
    (.init(groups: [0xfc00], bits: 7), .private),  // unique local, RFC 4193
    (.init(groups: [0xfe80], bits: 10), .linkLocal),  // RFC 4291
    (.init(groups: [0xfec0], bits: 10), .private),  // site-local, RFC 3879
    (.init(groups: [0xff00], bits: 8), .multicast),  // RFC 4291
  ]
}
