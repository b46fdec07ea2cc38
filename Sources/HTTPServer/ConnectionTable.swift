import Foundation
import HTTPSemantics
import NIOCore
import NIOHTTP1

/// The open connections, their clients, and their idle times: decides which connection is admitted, and which one makes
/// room.
///
/// A pure value; its owner synchronises it and carries out the returned actions.
struct ConnectionTable<ID: Hashable> {
  private struct Connection {
    let client: String?
    /// When it became idle, as a count; nil while a request is responded to.
    var idleSince: Int?
  }

  /// A connection that may make room.
  private struct Candidate {
    let id: ID
    let idleSince: Int
    /// The connections of its client, or `few`.
    let count: Int
  }

  private static var mostCandidates: Int { 256 }

  private var shares: Shares
  /// Clients with no more connections than this count as equal, so that a browser does not make room.
  private let few: Int
  private var connections: [ID: Connection] = [:]
  private var clock = 0
  private var candidates: [Candidate] = []

  init(limit: Int, most: Int) { (shares, few) = (Shares(capacity: limit, most: most), most / 128) }

  var count: Int { connections.count }

  /// Admits a connection, which is idle at first.
  ///
  /// - Parameter client: Nil for a proxy, which may have any number.
  /// - Returns: The connection to close, whose place this one takes; nil if there is room for both.
  /// - Throws: The party whose part is used up.
  mutating func insert(_ id: ID, client: String?) throws(Shares.Refusal) -> ID? {
    var idle: ID?
    if let refusal = shares.refusal(of: 1, for: client) {
      idle = refusal == .all ? longestIdle() : nil
      guard let idle else { throw refusal }
      remove(idle)
    }
    _ = shares.take(for: client)
    connections[id] = Connection(client: client)
    setIdle(true, id)
    return idle
  }

  /// Notes that a connection has become idle, or that its request is responded to.
  mutating func setIdle(_ isIdle: Bool, _ id: ID) {
    clock += 1
    connections[id]?.idleSince = isIdle ? clock : nil
  }

  mutating func remove(_ id: ID) {
    guard let connection = connections.removeValue(forKey: id) else { return }
    shares.giveBack(of: connection.client)
  }

  /// The longest idle connection of the client with most connections, among the clients with idle ones.
  private mutating func longestIdle() -> ID? {
    if let id = nextCandidate() { return id }
    let idle = connections.compactMap { id, connection in
      connection.idleSince.map { Candidate(id: id, idleSince: $0, count: count(of: connection)) }
    }
    // The next one is the last.
    candidates = idle.sorted { ($1.count, $0.idleSince) > ($0.count, $1.idleSince) }.suffix(Self.mostCandidates)
    return nextCandidate()
  }

  /// The next candidate of the last search, if nothing has changed for it: a search takes a millisecond.
  private mutating func nextCandidate() -> ID? {
    while let candidate = candidates.popLast() {
      guard let connection = connections[candidate.id], connection.idleSince == candidate.idleSince else { continue }
      if count(of: connection) == candidate.count { return candidate.id }
      candidates = []
    }
    return nil
  }

  private func count(of connection: Connection) -> Int {
    max(few, connection.client.map { shares.amount(of: $0) } ?? 0)
  }
}

/// The network that counts as one client: an IPv4 address, or the /64 of an IPv6 address, because a client has all of
/// its addresses.
package enum ClientNetwork {
  private static let length = 8
  /// The beginning of an IPv4 address at an IPv6 socket that accepts both (RFC 4291).
  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

  /// The name of the client of an address.
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

  /// The peer of a connection; `local` for a Unix socket.
  static func peer(of channel: any Channel) -> String { channel.remoteAddress?.ipAddress.map(plain) ?? "local" }

  private static func bytes(ofIPv6 address: String) -> [UInt8]? {
    guard address.utf8.contains(UInt8(ascii: ":")),
      case .v6(let parts)? = try? SocketAddress(ipAddress: address, port: 0)
    else { return nil }
    return withUnsafeBytes(of: parts.address.sin6_addr) { Array($0) }
  }
}

extension Shares.Refusal {
  /// 429 if the client has used up its part, 503 if everything is used up.
  var status: HTTPResponseStatus { self == .holder ? .tooManyRequests : .serviceUnavailable }

  /// Writes a response to a connection, whatever its request, as far as that is possible at once.
  func respond(on socket: NIOBSDSocket.Handle) {
    let response = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\nretry-after: 1\r\nconnection: close\r\n"
    _ = Array((response + "content-length: 0\r\n\r\n").utf8).withUnsafeBytes {
      send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
  }
}
