import NIOCore

/// Who counts as one client: an address, but of IPv6 its /64, as a client has all of the addresses in there.
package enum ClientNetwork {
  private static let length = 8
  /// What an IPv4 address begins with where a socket for IPv6 accepts both (RFC 4291).
  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

  /// What an address is counted under.
  package static func name(of address: String) -> String {
    let address = plain(address)
    guard let bytes = bytes(ofIPv6: address) else { return address }
    return bytes.prefix(length).map { String($0, radix: 16) }.joined(separator: ".")
  }

  /// The address, and `192.0.2.1` for `::ffff:192.0.2.1`.
  package static func plain(_ address: String) -> String {
    guard let bytes = bytes(ofIPv6: address), bytes.starts(with: mapped) else { return address }
    return bytes.dropFirst(mapped.count).map { String($0) }.joined(separator: ".")
  }

  /// Where a connection comes from; `local` for a Unix socket.
  static func peer(of channel: any Channel) -> String { channel.remoteAddress?.ipAddress.map(plain) ?? "local" }

  private static func bytes(ofIPv6 address: String) -> [UInt8]? {
    guard address.utf8.contains(UInt8(ascii: ":")),
      case .v6(let parts)? = try? SocketAddress(ipAddress: address, port: 0)
    else { return nil }
    return withUnsafeBytes(of: parts.address.sin6_addr) { Array($0) }
  }
}
