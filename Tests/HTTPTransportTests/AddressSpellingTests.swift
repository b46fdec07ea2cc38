@testable import HTTPTransport

/// Spellings of this machine, as libcurl and the resolver read them: a stranger's server redirects there.
@Suite(.timeLimit(.minutes(5))) struct AddressSpellingTests {
  /// Hosts that lead to 127.0.0.1 where nobody checks.
  static let leading = [
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1",
    "0177.1", "017700000001", "127.0.0.0x1", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "[::FFFF:127.0.0.1]", "localhost", "LOCALHOST", "LocalHost",
    "a.localhost", "0", "0.0.0.0", "0x0", "00.0.0.0", "[::ffff:0.0.0.0]", "stranger@127.0.0.1",
    "picture.example:80@127.0.0.1",
  ]

  @Test(arguments: leading) func noSpellingOfThisMachineIsReached(host: String) async throws {
    let servers = try GuardedServers { _, port in .redirect(to: "http://\(host):\(port)/secret") }
    let names = ["picture.example": [["127.0.0.2"]]]
    let url = servers.open.url("/a", host: "picture.example")
    let failure = await Downloader(servers.configuration(names)).failure(of: url)
    #expect(failure == .addressRefused(host: "picture.example"))
    #expect(servers.hidden.connectionCount == 0)
    // It would have been.
    let download = try await Downloader(servers.configuration(names) { $0.addresses = .any }).fetch(url)
    #expect(try download.bytes == [66])
  }

  /// Hosts that are refused although nothing listens there, or nothing that a test can have.
  @Test(arguments: [
    "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::1%25lo]", "[fe80::1]", "[fe80::1%25lo]",
    "[fe80::1%25eth0]", "[fd00::2]", "[2002:7f00:1::]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::a00:1]", "[2001:0:1::1]",
    "[ff02::1%25lo]", "[2606:4700::5efe:a00:1]", "127.255.255.254", "10.0.0.1", "167772161", "0xa.1", "012.0.0.1",
    "192.168.257", "169.254.169.254", "2852039166", "0xA9FEA9FE", "0251.0376.0251.0376", "169.254.43518",
    "100.100.100.200", "168.63.129.16", "127.0.0.1.", "224.0.0.1", "255.255.255.255", "4294967295", "192.0.2.2",
  ])
  func otherAddressesAreRefusedInEverySpelling(host: String) async throws {
    let servers = try GuardedServers { _, port in .redirect(to: "http://\(host):\(port)/secret") }
    let downloader = Downloader(servers.configuration(["picture.example": [["127.0.0.2"]]]))
    let failure = await downloader.failure(of: servers.open.url("/a", host: "picture.example"))
    #expect(failure == .addressRefused(host: "picture.example"))
  }

  /// Hosts that are none, or other hosts than they seem to be. libcurl converts other digits than ASCII's only in a
  /// locale that has them.
  @Test(arguments: [
    "127.0.0.1%00.picture.example", "127.0.0.1%0d%0a", "127.0.0.1%2fa", "6425673729", "127.0.0.256", "127.0.0.1.1",
    "0x7f.0.0.0.1", "[127.0.0.1]", "[::1", "127.0.0.1\\@picture.example", "", "１２７.０.０.１",
    "127。0。0。1", "①②⑦.0.0.1", "ｌｏｃａｌｈｏｓｔ",
  ])
  func whatIsNoAddressReachesNothing(host: String) async throws {
    let servers = try GuardedServers { _, port in .redirect(to: "http://\(host):\(port)/secret") }
    let downloader = Downloader(
      servers.configuration(["picture.example": [["127.0.0.2"]]]) { $0.retry.maximumAttempts = 1 })
    let failure = await downloader.failure(of: servers.open.url("/a", host: "picture.example"))
    #expect(failure != nil && servers.hidden.connectionCount == 0)
  }

  /// An error goes to the stranger: it names no address, in whatever spelling the request had it.
  @Test(arguments: [
    "127.0.0.1", "0x7f.1", "2130706433", "127.0.0.1.", "%31%32%37.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "１２７.0.0.1",
  ])
  func errorsNameNoAddress(host: String) async throws {
    let downloader = Downloader(.quick { $0.addresses = .publicOnly })
    let failure = await downloader.failure(of: try #require(URL(string: "http://\(host):1/a")))
    #expect(failure == .addressRefused(host: nil))
    #expect(DownloadError.addressRefusal(nil) == "it leads to an address that is not public")
  }
}
