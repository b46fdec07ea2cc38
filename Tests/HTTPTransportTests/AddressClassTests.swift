@testable import HTTPTransport

/// What each address is for: the ends of every special range, their neighbours, and IPv4 within IPv6.
@Suite(.timeLimit(.minutes(5))) struct AddressClassTests {
  /// An address in its usual spelling, and its class.
  typealias Row = (address: String, class: AddressClass)

  static let publicV4 = [
    "1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
    "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
    "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.31.195.255", "192.88.98.255", "192.88.100.0", "192.167.255.255",
    "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0",
    "223.255.255.255",
  ].map { Row($0, .public) }

  static let specialV4: [Row] = [
    ("0.0.0.0", .unspecified), ("0.0.0.1", .unspecified), ("0.255.255.255", .unspecified),
    ("10.0.0.0", .private), ("10.1.2.3", .private), ("10.255.255.255", .private),
    ("100.64.0.0", .shared), ("100.100.100.200", .shared), ("100.127.255.255", .shared),
    ("127.0.0.0", .loopback), ("127.0.0.1", .loopback), ("127.0.0.53", .loopback), ("127.255.255.255", .loopback),
    ("168.63.129.16", .metadata), ("169.254.169.254", .metadata),
    ("169.254.0.0", .linkLocal), ("169.254.170.2", .linkLocal), ("169.254.42.42", .linkLocal),
    ("169.254.255.255", .linkLocal),
    ("172.16.0.0", .private), ("172.17.0.1", .private), ("172.31.255.255", .private),
    ("192.0.0.0", .protocols), ("192.0.0.9", .protocols), ("192.0.0.171", .protocols), ("192.0.0.192", .protocols),
    ("192.0.2.0", .documentation), ("192.0.2.255", .documentation),
    ("192.31.196.1", .protocols), ("192.52.193.1", .protocols), ("192.88.99.1", .protocols),
    ("192.168.0.0", .private), ("192.168.1.1", .private), ("192.168.255.255", .private),
    ("192.175.48.42", .protocols), ("198.18.0.0", .benchmarking), ("198.19.255.255", .benchmarking),
    ("198.51.100.0", .documentation), ("198.51.100.255", .documentation),
    ("203.0.113.0", .documentation), ("203.0.113.255", .documentation),
    ("224.0.0.0", .multicast), ("224.0.0.251", .multicast), ("239.255.255.250", .multicast),
    ("239.255.255.255", .multicast),
    ("240.0.0.0", .reserved), ("250.1.2.3", .reserved), ("255.255.255.254", .reserved), ("255.255.255.255", .reserved),
  ]

  static let publicV6 = [
    "2000::1", "2001:200::1", "2001:4860:4860::8888", "2001:db7:ffff::1", "2001:db9::1", "2003::1", "2400:cb00::1",
    "2606:4700:4700::1111", "2620:4f:7fff::1", "2620:4f:8001::1", "2a00:1450:4001:80b::200e", "3ffd:ffff::1",
    "3fff:1000::1", "2606:4700::5efe:7f00:2:1",
  ].map { Row($0, .public) }

  static let specialV6: [Row] = [
    ("::", .unspecified), ("::1", .loopback),
    ("100::", .reserved), ("100::1", .reserved), ("100:0:0:1::1", .reserved), ("200::1", .reserved),
    ("1fff:ffff::1", .reserved), ("4000::1", .reserved), ("5f00::1", .protocols), ("8000::1", .reserved),
    ("e000::1", .reserved), ("f000::1", .reserved), ("fbff:ffff::1", .reserved), ("fe00::1", .reserved),
    ("fe7f:ffff::1", .reserved),
    ("2001:1::1", .protocols), ("2001:2::1", .benchmarking), ("2001:2:1::1", .protocols), ("2001:3::1", .protocols),
    ("2001:4:112::1", .protocols), ("2001:10::1", .protocols), ("2001:20::1", .protocols), ("2001:30::1", .protocols),
    ("2001:1ff:ffff::1", .protocols), ("2620:4f:8000::1", .protocols),
    ("2001:db8::", .documentation), ("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", .documentation),
    ("3fff::1", .documentation), ("3fff:fff:ffff::1", .documentation), ("3ffe::1", .reserved),
    ("fc00::", .private), ("fc00::1", .private), ("fd00::2", .private), ("fdff:ffff::1", .private),
    ("fd00:ec2::254", .metadata), ("fd00:ec2::23", .metadata), ("fd20:ce::254", .metadata),
    ("fe80::", .linkLocal), ("fe80::1", .linkLocal), ("fe80::a9fe:a9fe", .linkLocal), ("febf:ffff::1", .linkLocal),
    ("fec0::1", .private), ("feff::1", .private),
    ("ff00::", .multicast), ("ff02::1", .multicast), ("ff0e::1", .multicast), ("ffff::1", .multicast),
  ]

  static let wrapped: [Row] = [
    // Mapped, which the kernel unwraps.
    ("::ffff:127.0.0.1", .loopback), ("::ffff:7f00:1", .loopback), ("::ffff:10.0.0.1", .private),
    ("::ffff:169.254.169.254", .metadata), ("::ffff:0.0.0.0", .unspecified), ("::ffff:192.168.1.1", .private),
    ("::ffff:100.64.0.1", .shared), ("::ffff:224.0.0.1", .multicast), ("::ffff:255.255.255.255", .reserved),
    ("::ffff:8.8.8.8", .public),
    // Behind a NAT64 with the well-known prefix.
    ("64:ff9b::127.0.0.1", .loopback), ("64:ff9b::10.0.0.1", .private), ("64:ff9b::a9fe:a9fe", .metadata),
    ("64:ff9b::0.0.0.0", .unspecified), ("64:ff9b::8.8.8.8", .public),
    // Local NAT64, compatible, translated.
    ("64:ff9b:1::8.8.8.8", .embedded), ("64:ff9b:1:fffe::a00:1", .embedded), ("64:ff9b:2::1", .reserved),
    ("64:ff9b::1:808:808", .reserved), ("::127.0.0.1", .embedded), ("::8.8.8.8", .embedded), ("::2", .embedded),
    ("::ffff:0:127.0.0.1", .embedded), ("::ffff:0:8.8.8.8", .embedded),
    // 6to4, Teredo.
    ("2002::", .embedded), ("2002:7f00:1::", .embedded), ("2002:a00:1::1", .embedded), ("2002:808:808::1", .embedded),
    ("2001::1", .embedded), ("2001:0:4136:e378:8000:63bf:80ff:fffe", .embedded),
    // ISATAP, under any prefix.
    ("2606:4700::5efe:127.0.0.1", .embedded), ("2606:4700::5efe:10.0.0.1", .embedded),
    ("2606:4700::200:5efe:10.0.0.1", .embedded), ("2606:4700::200:5efe:8.8.8.8", .embedded),
    ("fe80::5efe:10.0.0.1", .embedded), ("2606:4700::5eff:10.0.0.1", .public),
  ]

  static let rows = publicV4 + specialV4 + publicV6 + specialV6 + wrapped

  @Test(arguments: rows) func everyAddressHasItsClass(row: Row) throws {
    let address = try #require(IPAddress(row.address))
    #expect(AddressClass(address) == row.class)
    #expect(AddressPolicy.publicOnly.allows(address) == (row.class == .public))
    #expect(AddressPolicy.any.allows(address))
  }
}
