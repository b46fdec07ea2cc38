import Testing

@testable import HTTPServer

/// Who may connect, and who makes room.
@Suite struct ConnectionTableTests {
  @Test func aClientHasNoMoreThanItsPart() {
    var table = ConnectionTable<Int>(limit: 8, most: 2)
    #expect(table.insert(1, client: "a") == .admitted && table.insert(2, client: "a") == .admitted)
    #expect(table.insert(3, client: "a") == .refused(.holder))
    #expect(table.insert(4, client: "b") == .admitted)
    table.remove(1)
    table.remove(1)
    #expect(table.insert(5, client: "a") == .admitted && table.count == 3)
  }

  @Test func theLongestIdleOneOfWhoHasMostMakesRoom() {
    var table = ConnectionTable<Int>(limit: 5, most: 3)
    for (id, client) in [(1, "a"), (2, "b"), (3, "b"), (4, "b"), (5, "c")] {
      #expect(table.insert(id, client: client) == .admitted)
    }
    // Was idle for longest, but has had a request since.
    table.setIdle(false, 2)
    table.setIdle(true, 2)
    #expect(table.insert(6, client: "d") == .insteadOf(3))
    #expect(table.insert(7, client: "d") == .insteadOf(4))
    // Of equals the longest idle one.
    #expect(table.insert(8, client: "e") == .insteadOf(6))
    #expect(table.count == 5)
  }

  @Test func amongClientsWithFewConnectionsTheLongestIdleOneMakesRoom() {
    var table = ConnectionTable<Int>(limit: 512, most: 256)
    for id in 0..<510 { #expect(table.insert(id, client: "\(id)") == .admitted) }
    for id in 510..<512 { #expect(table.insert(id, client: "browser") == .admitted) }
    for id in 512..<600 { #expect(table.insert(id, client: "\(id)") == .insteadOf(id - 512)) }
  }

  @Test func nobodyMakesRoomWhileItsRequestIsRespondedTo() {
    var table = ConnectionTable<Int>(limit: 2, most: 2)
    for id in 1...2 {
      _ = table.insert(id, client: "a")
      table.setIdle(false, id)
    }
    #expect(table.insert(3, client: "b") == .refused(.all))
    table.setIdle(true, 2)
    #expect(table.insert(3, client: "b") == .insteadOf(2))
    // It was closed, or ends its request, later than it was counted out.
    table.setIdle(true, 2)
    table.remove(2)
    #expect(table.count == 2)
  }

  @Test func aProxyMayHaveAnyNumber() {
    var table = ConnectionTable<Int>(limit: 4, most: 1)
    for id in 1...4 { #expect(table.insert(id, client: nil) == .admitted) }
    #expect(table.insert(5, client: nil) == .insteadOf(1))
  }

  @Test func ofIPv6ANetworkIsOneClient() {
    let name = ClientNetwork.name(of: "2001:db8:1:2::1")
    #expect(ClientNetwork.name(of: "2001:db8:1:2:ffff::7") == name)
    #expect(ClientNetwork.name(of: "2001:db8:1:3::1") != name)
    #expect(ClientNetwork.name(of: "192.0.2.1") == "192.0.2.1")
    #expect(ClientNetwork.name(of: "local") == "local")
    // A socket for IPv6 accepts IPv4, too: such a client is none of one /64.
    for mapped in ["::ffff:192.0.2.1", "::ffff:c000:201"] { #expect(ClientNetwork.name(of: mapped) == "192.0.2.1") }
    #expect(ClientNetwork.plain("2001:db8::1") == "2001:db8::1")
  }
}
