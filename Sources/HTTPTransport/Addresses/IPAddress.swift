import Foundation

/// An IP address, as the bytes that a connection is made to: no spelling, no scope.
public enum IPAddress: Hashable, Sendable {
  /// IPv4, with the first byte of the address as the most significant.
  case v4(UInt32)
  /// IPv6, with the first byte of the address as the most significant.
  case v6(UInt128)

  /// The address in 4 or 16 bytes, in network order. Nil for any other number.
  public init?(bytes: some Collection<UInt8>) {
    switch bytes.count {
    case 4: self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
    case 16: self = .v6(bytes.reduce(0) { $0 << 8 | UInt128($1) })
    default: return nil
    }
  }

  /// Parses `192.0.2.1` or `2001:db8::1`, in these usual spellings only: four decimal numbers, or hexadecimal groups.
  public init?(_ text: String) {
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

  /// The IPv4 address that a connection to this IPv6 address really reaches: the kernel unwraps mapped addresses, and a
  /// NAT64 those of its well-known prefix.
  var embedded: IPAddress? {
    guard case .v6(let bits) = self, AddressRange.mapped.contains(self) || AddressRange.wellKnownNAT64.contains(self)
    else { return nil }
    return .v4(UInt32(truncatingIfNeeded: bits))
  }
}

extension IPAddress: CustomStringConvertible {
  /// The usual spelling, as `inet_ntop` has it.
  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    switch self {
    case .v4(let bits):
      var bytes = bits.bigEndian
      inet_ntop(AF_INET, &bytes, &text, socklen_t(text.count))
    case .v6(let bits):
      var bytes = bits.bigEndian
      inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
