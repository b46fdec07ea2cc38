import Foundation
import HTTPSemantics
import NIOCore
import NIOHTTP1

/// Which connections are open, whose they are, and which have been idle for longest: decides who may come, and who makes
/// room.
///
/// A pure value; its owner synchronises it and carries out the returned actions.
struct ConnectionTable<ID: Hashable> {
  private struct Connection {
    let client: String?
    /// When it became idle, as a count; nil while a request is responded to.
    var idleSince: Int?
  }

  /// One that may make room.
  private struct Candidate {
    let id: ID
    let idleSince: Int
    /// The connections of its client, or `few`.
    let count: Int
  }

  private static var mostCandidates: Int { 256 }

  private var shares: Shares
  /// Clients with no more connections than that count as equal: a browser is not who has most.
  private let few: Int
  private var connections: [ID: Connection] = [:]
  private var clock = 0
  private var candidates: [Candidate] = []

  init(limit: Int, most: Int) { (shares, few) = (Shares(capacity: limit, most: most), most / 128) }

  var count: Int { connections.count }

  /// Admits a connection, which is idle at first.
  ///
  /// - Parameter client: Nil for a proxy, which may have any number.
  /// - Returns: The connection that is to be closed, as this one takes its place; nil if there is room for both.
  /// - Throws: Whose part is used up.
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

  /// Of the clients with idle connections the one that has most connections makes room, with its longest idle one.
  private mutating func longestIdle() -> ID? {
    if let id = nextCandidate() { return id }
    let idle = connections.compactMap { id, connection in
      connection.idleSince.map { Candidate(id: id, idleSince: $0, count: count(of: connection)) }
    }
    // The next one is the last.
    candidates = idle.sorted { ($1.count, $0.idleSince) > ($0.count, $1.idleSince) }.suffix(Self.mostCandidates)
    return nextCandidate()
  }

  /// The next of those that were found at the last look, if nothing has changed for it: a look takes a millisecond.
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

extension Shares.Refusal {
  /// 429 where the client has used up its part, 503 where all have used up all.
  var status: HTTPResponseStatus { self == .holder ? .tooManyRequests : .serviceUnavailable }

  /// Writes a response to whatever a connection was opened for, as far as that is possible at once.
  func respond(on socket: NIOBSDSocket.Handle) {
    let response = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\nretry-after: 1\r\nconnection: close\r\n"
    _ = Array((response + "content-length: 0\r\n\r\n").utf8).withUnsafeBytes {
      send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
  }
}
