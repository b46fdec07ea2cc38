import NIOCore

/// Who counts as one client: an address, but of IPv6 its /64, as a client has all of the addresses in there.
package enum ClientNetwork {
  private static let length = 8

  /// What an address is counted under.
  package static func name(of address: String) -> String {
    guard address.utf8.contains(UInt8(ascii: ":")), !address.contains("."),
      case .v6(let parts)? = try? SocketAddress(ipAddress: address, port: 0)
    else { return address }
    let bytes = withUnsafeBytes(of: parts.address.sin6_addr) { Array($0.prefix(length)) }
    return bytes.map { String($0, radix: 16) }.joined(separator: ".")
  }
}
