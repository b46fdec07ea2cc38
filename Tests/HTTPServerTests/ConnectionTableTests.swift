import HTTPSemantics

@testable import HTTPServer

/// Who may connect, and who makes room.
@Suite struct ConnectionTableTests {
  @Test func theLongestIdleOneOfWhoHasMostMakesRoom() throws {
    var table = ConnectionTable<Int>(limit: 5, most: 3)
    for (id, client) in [(1, "a"), (2, "b"), (3, "b"), (4, "b"), (5, "c")] {
      #expect(try table.insert(id, client: client) == nil)
    }
    // Was idle for longest, but has had a request since.
    table.setIdle(false, 2)
    table.setIdle(true, 2)
    #expect(try table.insert(6, client: "d") == 3)
    #expect(try table.insert(7, client: "d") == 4)
    // Of equals the longest idle one.
    #expect(try table.insert(8, client: "e") == 6)
    #expect(table.count == 5)
  }

  @Test func amongClientsWithFewConnectionsTheLongestIdleOneMakesRoom() throws {
    var table = ConnectionTable<Int>(limit: 512, most: 256)
    for id in 0..<510 { #expect(try table.insert(id, client: "\(id)") == nil) }
    for id in 510..<512 { #expect(try table.insert(id, client: "browser") == nil) }
    for id in 512..<600 { #expect(try table.insert(id, client: "\(id)") == id - 512) }
  }

  @Test func nobodyMakesRoomWhileItsRequestIsRespondedTo() throws {
    var table = ConnectionTable<Int>(limit: 2, most: 2)
    for id in 1...2 {
      _ = try table.insert(id, client: "a")
      table.setIdle(false, id)
    }
    #expect(throws: Shares.Refusal.all) { try table.insert(3, client: "b") }
    table.setIdle(true, 2)
    #expect(try table.insert(3, client: "b") == 2)
    // It was closed, or ends its request, later than it was counted out.
    table.setIdle(true, 2)
    table.remove(2)
    #expect(table.count == 2)
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
