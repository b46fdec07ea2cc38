@testable import HTTPTransport

/// Addresses from bytes, ranges and their exceptions.
@Suite(.timeLimit(.minutes(5))) struct AddressPolicyTests {
  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }
  private func ranges(_ texts: String...) throws -> [AddressRange] {
    try texts.map { try AddressRange($0) }
  }

  @Test(arguments: ["0.0.0.0", "192.0.2.1", "255.255.255.255", "::", "::1", "2001:db8::a:1", "fe80::1"])
  func anAddressIsPrintedAsItIsRead(text: String) throws {
    #expect(try "\(address(text))" == text)
  }

  @Test(arguments: [
    "", "127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "127.0.0.1.", " 127.0.0.1", "127.0.0.256", "1.2.3.4.5",
    "fe80::1%lo", "[::1]", "::1::", "localhost", "１２７.0.0.1",
  ])
  func otherSpellingsAreNoAddresses(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test func anAddressIsReadFromItsBytes() throws {
    let (v4, v6) = (try address("127.0.0.1"), try address("fe80::1"))
    #expect(IPAddress(bytes: [127, 0, 0, 1]) == v4)
    #expect(IPAddress(bytes: [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1]) == v6)
    for count in [0, 3, 5, 15, 17] { #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil) }
  }

  @Test func anAddressIsReadFromASocketAddress() throws {
    var v4 = sockaddr_in()
    v4.sin_family = sa_family_t(AF_INET)
    (v4.sin_port, v4.sin_addr.s_addr) = (80, inet_addr("10.1.2.3"))
    withUnsafeBytes(of: v4) { #expect(IPAddress(socketAddress: $0) == IPAddress("10.1.2.3")) }
    var v6 = sockaddr_in6()
    v6.sin6_family = sa_family_t(AF_INET6)
    (v6.sin6_port, v6.sin6_flowinfo, v6.sin6_scope_id) = (80, 7, 9)
    inet_pton(AF_INET6, "2001:db8::5", &v6.sin6_addr)
    withUnsafeBytes(of: v6) {
      #expect(IPAddress(socketAddress: $0) == IPAddress("2001:db8::5"))
      // Too short to hold one, as is a copy of the declared type alone.
      #expect(IPAddress(socketAddress: UnsafeRawBufferPointer(rebasing: $0.prefix(16))) == nil)
      #expect(IPAddress(socketAddress: UnsafeRawBufferPointer(rebasing: $0.prefix(1))) == nil)
    }
    var local = sockaddr_un()
    local.sun_family = sa_family_t(AF_UNIX)
    withUnsafeBytes(of: local) { #expect(IPAddress(socketAddress: $0) == nil) }
  }

  @Test func aRangeHasItsEnds() throws {
    let range = try AddressRange("10.20.0.0/14")
    for inside in ["10.20.0.0", "10.23.255.255"] { #expect(try range.contains(address(inside))) }
    for outside in ["10.19.255.255", "10.24.0.0", "::ffff:10.20.0.1"] { #expect(try !range.contains(address(outside))) }
    let wide = try AddressRange("fd00::/8")
    #expect(try wide.contains(address("fdff::1")))
    #expect(try !wide.contains(address("fc00::1")))
  }

  @Test func aRangeMayBeOneAddressOrAll() throws {
    let one = try AddressRange("192.0.2.7")
    #expect(try one.contains(address("192.0.2.7")))
    #expect(try !one.contains(address("192.0.2.6")))
    let all = try AddressRange("0.0.0.0/0")
    #expect(try all.contains(address("255.1.2.3")))
    #expect(try !all.contains(address("::1")))
    let allV6 = try AddressRange("::/0")
    #expect(try allV6.contains(address("ff02::1")))
    // What follows the shared bits does not matter.
    let ten = try AddressRange("10.1.2.3/8")
    #expect(try ten.contains(address("10.9.9.9")))
  }

  @Test(arguments: [
    "", "/", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10/8", "x/8",
    "10.0.0.0/٨", "10.0.0.0/ 8",
  ])
  func whatIsNoRangeIsRefused(text: String) {
    #expect(throws: InvalidValue.self) { _ = try AddressRange(text) }
  }

  @Test func exceptionsAreAllowed() throws {
    var policy = AddressPolicy.publicOnly
    policy.allowed = try ranges("10.20.0.0/16", "::1")
    for text in ["10.20.3.4", "::ffff:10.20.3.4", "::1", "8.8.8.8"] { #expect(try policy.allows(address(text))) }
    for text in ["10.21.0.0", "127.0.0.1", "::ffff:127.0.0.1", "::2"] { #expect(try !policy.allows(address(text))) }
  }

  @Test func whatIsRefusedIsRefusedInAnyCase() throws {
    for base in [AddressPolicy.any, .publicOnly] {
      var policy = base
      policy.allowed = try ranges("8.8.0.0/16")
      policy.refused = try ranges("8.8.8.0/24", "2606:4700::/32")
      for text in ["8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2606:4700::1"] {
        #expect(try !policy.allows(address(text)))
      }
      #expect(try policy.allows(address("8.8.4.4")))
      #expect(try policy.allows(address("2a00::1")))
      #expect(policy.isGuarded)
    }
  }

  @Test func onlyAPolicyThatRefusesIsAGuard() throws {
    var policy = AddressPolicy.any
    policy.allowed = try ranges("10.0.0.0/8")
    #expect(!policy.isGuarded && !AddressPolicy.any.isGuarded && AddressPolicy.publicOnly.isGuarded)
  }
}
