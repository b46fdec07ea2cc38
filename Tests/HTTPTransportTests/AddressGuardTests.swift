@testable import HTTPSemantics
@testable import HTTPTransport
@testable import ThumbnailCore

/// Guarded downloads: no connection is made to an address that is not allowed, by no road.
@Suite(.timeLimit(.minutes(5))) struct AddressGuardTests {
  private let loopback = "127.0.0.1"
  private let internet = "127.0.0.2"

  @Test func refusesAnAddressOnceAndWithoutAConnection() async throws {
    let origin = try Origin { _ in .ok([1]) }
    let downloader = Downloader(.quick { $0.addresses = .publicOnly })
    #expect(await downloader.failure(of: origin.url("/a")) == .addressRefused(host: nil))
    #expect(await downloader.failure(of: origin.url("/a", host: "localhost")) == .addressRefused(host: "localhost"))
    #expect(origin.connectionCount == 0)
    #expect(try await Downloader(.quick()).fetch(origin.url("/a")).bytes == [1])
  }

  @Test func whatIsRefusedIsNotReachedThoughAllElseIs() async throws {
    let servers = try GuardedServers { _, _ in .ok([7]) }
    let downloader = Downloader(.quick { $0.addresses.refused = [AddressRange(127, 0, 0, 1, bits: 32)] })
    #expect(try await downloader.fetch(servers.open.url("/a")).bytes == [7])
    #expect(await downloader.failure(of: servers.hidden.url("/a")) == .addressRefused(host: nil))
    #expect(servers.hidden.connectionCount == 0)
  }

  @Test func ofSeveralAddressesThoseThatAreAllowedAreUsed() async throws {
    let servers = try GuardedServers { _, _ in .ok([7]) }
    let downloader = Downloader(
      servers.configuration(["picture.example": [[loopback, "::1", "10.0.0.1", internet, "[fd00::2]"]]]))
    #expect(try await downloader.fetch(servers.open.url("/a", host: "picture.example")).bytes == [7])
    #expect(servers.hidden.connectionCount == 0)
  }

  @Test func aNameOfWhichAllAddressesArePrivateIsRefused() async throws {
    let servers = try GuardedServers { _, _ in .ok([7]) }
    // If one waited for half of the connect timeout, this would not end in time.
    let names = ["picture.example": [["::1", loopback, "10.0.0.1", "fd00::2", "169.254.169.254", "::ffff:127.0.0.1"]]]
    let downloader = Downloader(servers.configuration(names) { $0.connectTimeout = .seconds(3600) })
    let failure = await downloader.failure(of: servers.open.url("/a", host: "picture.example"))
    #expect(failure == .addressRefused(host: "picture.example"))
    #expect(servers.hidden.connectionCount == 0)
  }

  @Test(arguments: [
    "[::1]", "[::]", "[::ffff:127.0.0.1]", "[fd00::2]", "[fe80::1]", "[64:ff9b::a00:1]", "[2002:7f00:1::]", "0.0.0.0",
    "127.0.0.1", "10.0.0.1", "169.254.169.254", "100.100.100.200", "192.0.2.2",
  ])
  func theAddressOfANameIsCheckedAsItsSocketIsOpened(address: String) async throws {
    let port = try Origin { _ in .ok([1]) }.port
    let url = try #require(URL(string: "http://picture.example:\(port)/a"))
    let downloader = Downloader(
      .quick {
        $0.addresses = .publicOnly
        $0.addressesOfHost = { _ in [address] }
      })
    #expect(await downloader.failure(of: url) == .addressRefused(host: "picture.example"))
  }

  @Test func anAllowedAddressThatDoesNotRespondIsUnreachable() async throws {
    let gone = try Origin { _ in .ok([1]) }
    gone.stop()
    let url = try #require(URL(string: "http://picture.example:\(gone.port)/a"))
    let downloader = Downloader(
      .quick {
        $0.addresses = .publicOnly
        $0.addresses.allowed = [AddressRange(groups: [0, 0, 0, 0, 0, 0, 0, 1], bits: 128)]
        $0.addressesOfHost = { _ in ["127.0.0.1", "[::1]"] }
        $0.retry.maximumAttempts = 1
      })
    guard case .unreachable(let reason) = await downloader.failure(of: url) else {
      Issue.record("it was refused")
      return
    }
    #expect(reason.contains("picture.example") && !reason.contains("::1") && !reason.contains("127.0.0.1"))
  }

  @Test func aNameThatHasAnotherAddressTheNextTimeIsCheckedAgain() async throws {
    let servers = try GuardedServers { _, _ in .ok([7]).untilClose() }
    let downloader = Downloader(servers.configuration(["picture.example": [[internet], [loopback]]]))
    let url = servers.open.url("/a", host: "picture.example")
    #expect(try await downloader.fetch(url).bytes == [7])
    #expect(await downloader.failure(of: url) == .addressRefused(host: "picture.example"))
    #expect(servers.hidden.connectionCount == 0 && servers.open.connectionCount == 1)
  }

  @Test func aRedirectToTheSameNameIsCheckedAgain() async throws {
    let servers = try GuardedServers { _, _ in .redirect(to: "/b").untilClose() }
    let downloader = Downloader(servers.configuration(["picture.example": [[internet], [loopback]]]))
    let failure = await downloader.failure(of: servers.open.url("/a", host: "picture.example"))
    #expect(failure == .addressRefused(host: "picture.example"))
    #expect(servers.hidden.connectionCount == 0)
  }

  @Test func aRetryIsCheckedAgain() async throws {
    let servers = try GuardedServers { _, _ in .ok(noise(2 << 20)).reset(after: 1 << 20) }
    let downloader = Downloader(servers.configuration(["picture.example": [[internet], [loopback]]]))
    let failure = await downloader.failure(of: servers.open.url("/a", host: "picture.example"))
    #expect(failure == .addressRefused(host: "picture.example"))
    #expect(servers.hidden.connectionCount == 0 && servers.open.requests.count == 1)
  }

  @Test func theHostThatRedirectedIsNotHeldForIt() async throws {
    let servers = try GuardedServers { request, _ in
      request.path == "/good" ? .ok([7]) : .redirect(to: "http://127.0.0.1:1/")
    }
    let downloader = Downloader(servers.configuration(["picture.example": [[internet]]]) { $0.maximumWait = .zero })
    for _ in 0..<12 {
      let failure = await downloader.failure(of: servers.open.url("/a", host: "picture.example"))
      #expect(failure == .addressRefused(host: "picture.example"))
    }
    #expect(servers.open.requests.count == 12)
    #expect(try await downloader.fetch(servers.open.url("/good", host: "picture.example")).bytes == [7])
  }

  @Test func aCheckedConnectionIsUsedAgain() async throws {
    let servers = try GuardedServers { _, _ in .ok([7]) }
    // The second address is not looked at, since no connection is made.
    let downloader = Downloader(servers.configuration(["picture.example": [[internet], [loopback]]]))
    for path in ["/a", "/b", "/c"] {
      #expect(try await downloader.fetch(servers.open.url(path, host: "picture.example")).bytes == [7])
    }
    #expect(servers.open.connectionCount == 1 && servers.hidden.connectionCount == 0)
  }

  @Test func aProxyOfTheUsersOwnIsUsedAndHasToGuard() async throws {
    let proxy = try Origin { _ in .ok([9]) }
    let downloader = Downloader(
      .quick {
        $0.addresses = .publicOnly
        $0.proxy = .url("http://127.0.0.1:\(proxy.port)")
      })
    let name = try #require(URL(string: "http://picture.example/a"))
    #expect(try await downloader.fetch(name).bytes == [9])
    // What is private by its spelling alone does not get that far.
    for host in ["10.0.0.1", "127.0.0.1", "0x7f.1", "[::1]", "[::ffff:10.0.0.1]", "localhost", "a.localhost."] {
      let url = try #require(URL(string: "http://\(host)/a"))
      #expect(await downloader.failure(of: url)?.kind == "addressRefused")
    }
    #expect(proxy.requests.count == 1)
  }

  @Test func anEmptyProxyIsNoWayAround() async throws {
    let origin = try Origin { _ in .ok([1]) }
    let downloader = Downloader(
      .quick {
        $0.addresses = .publicOnly
        $0.proxy = .url("")
      })
    let failure = await downloader.failure(of: origin.url("/a", host: "localhost"))
    #expect(failure == .addressRefused(host: "localhost") && origin.connectionCount == 0)
  }

  @Test func theClientOfPhotoServicesIsGuardedToo() async throws {
    let origin = try Origin { _ in .ok([1]) }
    let client = CurlHTTPClient(downloader: Downloader(.quick { $0.addresses = .publicOnly }))
    do {
      _ = try await client.get(HTTPRequest(url: origin.url("/a", host: "localhost")))
      Issue.record("it was reached")
    } catch HTTPClientError.addressRefused(let reason) {
      #expect(reason.contains("localhost") && !reason.contains("127"))
    }
    #expect(origin.connectionCount == 0)
  }
}
