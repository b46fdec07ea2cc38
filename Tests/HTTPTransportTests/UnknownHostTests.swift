import Foundation
import TestOrigin
import Testing

@testable import HTTPTransport
@testable import TestSupport
@testable import ThumbnailCore
@testable import TransportTestSupport

/// Names that do not exist: told from those that nobody resolves at the moment, not retried, and remembered.
@Suite(
  .timeLimit(.minutes(1)), .enabled("a resolver says that .invalid does not exist") { await resolverResponds() })
struct UnknownHostTests {
  private static let priority = PriorityControl(.visible)

  @Test func aNameThatDoesNotExistIsNotRetried() async throws {
    let attempts = Recorder<Int>()
    let downloader = Downloader(.quick())
    let url = try #require(URL(string: "http://nowhere.invalid/a.jpg"))
    let request = DownloadRequest(url: url, byteLimit: 1 << 20) { attempt, _ in attempts.append(attempt) }
    for _ in 1...2 {
      await #expect(throws: DownloadError.unknownHost("nowhere.invalid")) {
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
        let url = URL(string: "http://nowhere\(number % 25).invalid/a.jpg")
        group.addTask { await downloader.failure(of: url ?? origin.url()).isUnknownHost }
      }
      for await isUnknown in group { #expect(isUnknown) }
    }
    #expect(try await downloader.fetch(origin.url()).bytes == noise(100))
  }

  @Test func aNameIsRememberedForAWhile() async {
    let hosts = UnknownHosts(lifetime: .milliseconds(100))
    #expect(!hosts.contains("nowhere.invalid"))
    #expect(await hosts.confirm("nowhere.invalid"))
    #expect(hosts.contains("nowhere.invalid"))
    #expect(await eventually { !hosts.contains("nowhere.invalid") })
  }

  @Test func noMoreNamesAreRememberedThanTheLimit() async {
    let hosts = UnknownHosts(limit: 2)
    for name in ["a", "b", "c"] { #expect(await hosts.confirm("\(name).invalid")) }
    #expect(hosts.contains("c.invalid"))
    #expect(!hosts.contains("a.invalid"))
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

/// Whether this machine's resolver says anything; one without a name server may be silent.
private func resolverResponds() async -> Bool {
  await UnknownHosts().confirm("nowhere.invalid")
}
