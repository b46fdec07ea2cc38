import Foundation
import Synchronization
import TestOrigin
import Testing

@testable import HTTPSemantics
@testable import HTTPTransport
@testable import TestSupport
@testable import ThumbnailCore
@testable import TransportTestSupport

/// Downloads by a program's own client.
@Suite(.timeLimit(.minutes(5))) struct RoundTripperTests {
  private typealias Answer = @Sendable (HTTPRequest) async throws -> HTTPStreamedResponse

  private final class Client: HTTPRoundTripper {
    let answer: Answer
    let requests = Recorder<HTTPRequest>()

    init(_ answer: @escaping Answer) { self.answer = answer }

    func roundTrip(_ request: HTTPRequest) async throws -> HTTPStreamedResponse {
      requests.append(request)
      return try await answer(request)
    }
  }

  private func downloader(
    _ client: Client, _ configure: (inout DownloadConfiguration) -> Void = { _ in }
  ) -> Downloader {
    Downloader(
      .quick {
        $0.roundTripper = client
        configure(&$0)
      })
  }

  private func request(
    _ url: String = "https://a.example/a.jpg", _ headers: [HTTPHeader] = [], byteLimit: Int = 1 << 20
  ) throws -> DownloadRequest {
    DownloadRequest(url: try #require(URL(string: url)), headers: headers, byteLimit: byteLimit)
  }

  private func failure(_ downloader: Downloader, _ request: DownloadRequest) async -> DownloadError? {
    do throws(DownloadError) {
      _ = try await downloader.download(request, priority: .init(.visible))
      return nil
    } catch {
      return error
    }
  }

  private func pieces(_ data: [Data]) -> AsyncStream<Data> {
    AsyncStream { stream in
      for piece in data { stream.yield(piece) }
      stream.finish()
    }
  }

  @Test func aBodyComesInPiecesWithTheFieldsOfTheRequest() async throws {
    let client = Client { _ in
      .init(status: 200, headers: [HTTPHeader("Content-Length", "5")], body: Data("whole".utf8))
    }
    let download = try await downloader(client).download(
      request("https://user:secret@a.example/a.jpg", [HTTPHeader("X-Own", "1")]), priority: .init(.visible))
    #expect(try download.bytes == Array("whole".utf8) && download.isComplete && download.status == 200)
    let sent = try #require(client.requests.values.first)
    #expect(sent.url.absoluteString == "https://a.example/a.jpg")
    for (name, value) in [("X-Own", "1"), ("Accept-Encoding", "identity"), ("Authorization", "Basic dXNlcjpzZWNyZXQ=")]
    {
      #expect(sent.headers.firstValue(of: name) == value, "\(name)")
    }
    let inPieces = Client { [self] _ in .init(status: 200, pieces: pieces([Data("who".utf8), Data("le".utf8)])) }
    #expect(try await downloader(inPieces).download(request(), priority: .init(.visible)).bytes == Array("whole".utf8))
  }

  @Test func aRedirectIsFollowedByThePipelineWhichKeepsCredentialsAtTheirHost() async throws {
    let client = Client { request in
      request.url.host == "a.example"
        ? .init(status: 302, headers: [HTTPHeader("Location", "https://b.example/b.jpg")])
        : .init(status: 200, body: Data("b".utf8))
    }
    let headers = [HTTPHeader("Authorization", "Bearer token")]
    let download = try await downloader(client).download(
      request("https://a.example/a.jpg", headers), priority: .init(.visible))
    #expect(try download.bytes == Array("b".utf8))
    #expect(client.requests.values.map { $0.headers.firstValue(of: "Authorization") } == ["Bearer token", nil])
  }

  @Test func aFailureIsTriedAgain() async throws {
    let count = Atomic(0)
    let client = Client { _ in
      switch count.add(1, ordering: .relaxed).newValue {
      case 1: throw HTTPClientError.unreachable(reason: "no route")
      case 2: .init(status: 503)
      default: .init(status: 200, body: Data("a".utf8))
      }
    }
    let download = try await downloader(client) { $0.retry.maximumAttempts = 3 }
      .download(request(), priority: .init(.visible))
    #expect(download.attempts == 3)
    #expect(try download.bytes == Array("a".utf8))
  }

  @Test func whatIsShorterOrLongerThanItMayBeIsRefused() async throws {
    let short = Client { _ in .init(status: 200, headers: [HTTPHeader("Content-Length", "9")], body: Data("abc".utf8)) }
    #expect(
      await failure(downloader(short) { $0.retry.maximumAttempts = 1 }, try request())
        == .brokenOff(received: 3, expected: 9))
    let long = Client { _ in
      .init(status: 200, headers: [HTTPHeader("Content-Length", "2")], body: Data("abc".utf8))
    }
    guard case .invalidResponse = await failure(downloader(long) { $0.retry.maximumAttempts = 1 }, try request()) else {
      Issue.record("it should be refused")
      return
    }
    let endless = Client { _ in .init(status: 200, pieces: AsyncStream { Data(count: 1000) }) }
    #expect(
      await failure(downloader(endless), try request(byteLimit: 10_000)) == .tooLarge(limit: 10_000, announced: nil))
  }

  @Test func aHeaderThatIsNoneIsAnInvalidResponse() async throws {
    let client = Client { _ in .init(status: 200, headers: [HTTPHeader("X", "a\r\nSet-Cookie: b")], body: Data()) }
    guard case .invalidResponse = await failure(downloader(client) { $0.retry.maximumAttempts = 1 }, try request())
    else {
      Issue.record("it should be refused")
      return
    }
  }

  @Test func aSilentServerEndsAtTheDeadline() async throws {
    let client = Client { _ in
      try await Task.sleep(for: .seconds(3600))
      return .init(status: 200)
    }
    let quick = downloader(client) {
      ($0.connectTimeout, $0.stallTimeout) = (.milliseconds(20), .milliseconds(30))
      $0.retry.maximumAttempts = 1
    }
    #expect(await failure(quick, try request()) == .timedOut(.connect))
  }

  @Test func cancellingTheTaskCancelsTheClient() async throws {
    let wasCancelled = Recorder<Bool>()
    let client = Client { _ in
      do { try await Task.sleep(for: .seconds(3600)) } catch { wasCancelled.append(true) }
      throw CancellationError()
    }
    let task = Task { [request = try request()] in await failure(downloader(client), request) }
    await poll { client.requests.values.count == 1 }
    task.cancel()
    #expect(await task.value == .cancelled && wasCancelled.values == [true])
  }

  @Test func aBodyWhoseSequenceEndsByCancellationIsNotTakenForComplete() async throws {
    let client = Client { _ in
      let isFirst = Mutex(true)
      return .init(
        status: 200,
        pieces: AsyncStream {
          let isFirst = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
          if isFirst { return Data("begin".utf8) }
          try? await Task.sleep(for: .seconds(3600))
          return nil
        })
    }
    let quick = downloader(client) {
      $0.stallTimeout = .milliseconds(30)
      $0.retry.maximumAttempts = 1
    }
    #expect(await failure(quick, try request()) == .timedOut(.stall))
  }
}
