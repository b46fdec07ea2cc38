import Foundation
public import ThumbnailCore

/// An IP address as bytes, without spelling and scope.
package enum IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// IPv4, with the first byte of the address as the most significant.
  case v4(UInt32)
  /// IPv6, with the first byte of the address as the most significant.
  case v6(UInt128)

  /// The address in 4 or 16 bytes, in network order. Nil for any other number.
  package init?(bytes: some Collection<UInt8>) {
    switch bytes.count {
    case 4: self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
    case 16: self = .v6(bytes.reduce(0) { $0 << 8 | UInt128($1) })
    default: return nil
    }
  }

  /// Parses `192.0.2.1` or `2001:db8::1`. Other spellings, such as octal numbers, give nil.
  package init?(_ text: String) {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 {
      self.init(bytes: bytes.prefix(4))
    } else if inet_pton(AF_INET6, text, &bytes) == 1 {
      self.init(bytes: bytes)
    } else {
      return nil
    }
  }

  /// The address in a `sockaddr_in` or `sockaddr_in6`. Nil for another family, or too few bytes.
  package init?(socketAddress bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where bytes.count >= 8: self.init(bytes: bytes[4..<8])
    case AF_INET6 where bytes.count >= 24: self.init(bytes: bytes[8..<24])
    default: return nil
    }
  }

  /// The IPv4 address that a connection to this IPv6 address reaches: the kernel translates mapped addresses, and a
  /// NAT64 translates addresses with its well-known prefix.
  var embedded: IPAddress? {
    guard case .v6(let bits) = self, AddressRange.mapped.contains(self) || AddressRange.wellKnownNAT64.contains(self)
    else { return nil }
    return .v4(UInt32(truncatingIfNeeded: bits))
  }

  /// The usual spelling, as `inet_ntop` has it.
  package var description: String {
    func text(_ family: Int32, _ bits: some FixedWidthInteger) -> String {
      var (bytes, text) = (bits.bigEndian, [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN)))
      inet_ntop(family, &bytes, &text, socklen_t(text.count))
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return switch self {
    case .v4(let bits): text(AF_INET, bits)
    case .v6(let bits): text(AF_INET6, bits)
    }
  }
}

/// A range of IP addresses that begin with the same bits: `10.0.0.0/8`.
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
  private let base: IPAddress
  /// The number of leading bits that the addresses share.
  private let length: Int

  /// Parses `10.0.0.0/8`, `fd00::/8`, or one address. Bits after the shared ones are ignored.
  public init(_ text: String) throws(InvalidValue) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let malformed = InvalidValue("\(text) is not a range of addresses: write one like 10.0.0.0/8 or fd00::/8")
    guard let base = parts.first.flatMap({ IPAddress(String($0)) }) else { throw malformed }
    let longest = if case .v4 = base { 32 } else { 128 }
    var length = longest
    if parts.count == 2 {
      guard parts[1].allSatisfy({ ("0"..."9").contains($0) }), let bits = Int(parts[1]), bits <= longest else {
        throw malformed
      }
      length = bits
    }
    (self.base, self.length) = (base, length)
  }

  /// IPv4 addresses that begin with the same `length` bits.
  init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8, bits length: Int) {
    base = .v4([first, second, third, fourth].reduce(0) { $0 << 8 | UInt32($1) })
    self.length = length
  }

  /// IPv6 addresses that begin with the same `length` bits, from the first groups of an address; the rest is 0.
  init(groups: [UInt16], bits length: Int) {
    base = .v6((0..<8).reduce(0) { $0 << 16 | UInt128(groups.indices.contains($1) ? groups[$1] : 0) })
    self.length = length
  }

  /// Whether the range contains an address. An IPv4-mapped IPv6 address counts as IPv6.
  package func contains(_ address: IPAddress) -> Bool {
    switch (base, address) {
    case (.v4(let base), .v4(let address)): (base ^ address) >> UInt32(32 - length) == 0
    case (.v6(let base), .v6(let address)): (base ^ address) >> UInt128(128 - length) == 0
    default: false
    }
  }

  /// IPv4 addresses in an IPv6 socket: `::ffff:192.0.2.1` (RFC 4291).
  static let mapped = AddressRange(groups: [0, 0, 0, 0, 0, 0xffff], bits: 96)
  /// IPv4 addresses behind a NAT64 (RFC 6052), as networks without IPv4 reach them.
  static let wellKnownNAT64 = AddressRange(groups: [0x64, 0xff9b], bits: 96)

  /// One address, or the first one and the number of bits, as `init(_:)` takes them.
  public var description: String {
    let isOne = if case .v4 = base { length == 32 } else { length == 128 }
    return isOne ? "\(base)" : "\(base)/\(length)"
  }
}
