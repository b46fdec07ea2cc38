@testable import HTTPTransport
@testable import ThumbnailCore

/// Hosts without an address: told from those that nobody resolves at the moment, not retried, and remembered. Their names
/// are longer than a name may be, so that the resolver knows without asking anybody.
@Suite(.timeLimit(.minutes(5))) struct UnknownHostTests {
  private static let priority = PriorityControl(.visible)

  @Test func aNameThatDoesNotExistIsNotRetried() async throws {
    let attempts = Recorder<Int>()
    let downloader = Downloader(.quick())
    let url = try #require(URL(string: "http://\(unknown("a"))/a.jpg"))
    var request = DownloadRequest(url: url, byteLimit: 1 << 20)
    request.onAttempt = { attempt, _ in attempts.append(attempt) }
    for _ in 1...2 {
      await #expect(throws: DownloadError.unknownHost(unknown("a"))) {
        try await downloader.download(request, priority: Self.priority)
      }
    }
    // The second time nobody was asked.
    #expect(attempts.values == [1])
  }

  @Test func manyNamesDoNotHoldOneAnother() async throws {
    let origin = try Origin { _ in .ok(noise(100)) }
    let downloader = Downloader(.quick())
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        let url = URL(string: "http://\(unknown("a\(number % 25)"))/a.jpg")
        group.addTask { await downloader.failure(of: url ?? origin.url()).isUnknownHost }
      }
      for await isUnknown in group { #expect(isUnknown) }
    }
    #expect(try await downloader.fetch(origin.url()).bytes == noise(100))
  }

  @Test func manyPicturesOfOneHostDoNotHoldIt() async throws {
    let pauses = Recorder<HostPause>()
    let downloader = Downloader(.quick { $0.onHostPause = { pauses.append($0) } })
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<40 {
        guard let url = URL(string: "http://\(unknown("a"))/\(number).jpg") else { continue }
        group.addTask { await downloader.failure(of: url).isUnknownHost }
      }
      for await isUnknown in group { #expect(isUnknown) }
    }
    #expect(pauses.values.isEmpty)
  }

  @Test func aNameIsRememberedForAWhile() async {
    let (long, short) = (UnknownHosts(lifetime: .seconds(86_400)), UnknownHosts(lifetime: .zero))
    for hosts in [long, short] {
      #expect(!hosts.contains(unknown("a")))
      #expect(await hosts.confirm(unknown("a")))
    }
    #expect(!short.contains(unknown("a")))
    #expect(long.contains(unknown("a")))
  }

  @Test func noMoreNamesAreRememberedThanTheLimit() async {
    let hosts = UnknownHosts(limit: 2)
    for name in ["a", "b", "c"] { #expect(await hosts.confirm(unknown(name))) }
    #expect(hosts.contains(unknown("c")))
    #expect(!hosts.contains(unknown("a")))
  }

  @Test(arguments: ["localhost", "127.0.0.1", "bücher.invalid"])
  func whatIsResolvedOrCannotBeToldIsNotUnknown(host: String) async {
    #expect(await !UnknownHosts().confirm(host))
  }
}

extension Optional<DownloadError> {
  fileprivate var isUnknownHost: Bool {
    if case .unknownHost? = self { true } else { false }
  }
}

/// A name that no host can have.
private func unknown(_ start: String) -> String { start + String(repeating: "x", count: 64) + ".invalid" }
