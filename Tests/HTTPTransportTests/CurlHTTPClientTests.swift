@testable import HTTPSemantics
@testable import HTTPTransport

/// The small client of the photo search APIs.
@Suite(.timeLimit(.minutes(5))) struct CurlHTTPClientTests {
  private let client = CurlHTTPClient(downloader: Downloader(.quick()))

  @Test func givesTheAnswerWithItsHeader() async throws {
    let origin = try Origin { request in .json(#"{"q":"\#(request.query["query"] ?? "")"}"#).header("X-Total", "7") }
    let request = HTTPRequest(url: origin.url("/search?query=a%20lake"), headers: [.init("Authorization", "k")])
    let response = try await client.get(request)
    #expect(response.status == 200)
    #expect(response.value(of: "x-total") == "7")
    #expect(String(decoding: response.body, as: UTF8.self) == #"{"q":"a lake"}"#)
    let sent = try #require(origin.requests.first).request
    #expect(sent.value(of: "Authorization") == "k")
    #expect(sent.value(of: "Accept")?.hasPrefix("application/json") == true)
    #expect(sent.value(of: "Accept-Encoding")?.contains("gzip") == true)
  }

  @Test(arguments: [400, 401, 403, 404, 429]) func givesErrorsWithTheirBodyAndAsksOnce(status: Int) async throws {
    let origin = try Origin { _ in .status(status, "Rate Limit Exceeded").header("Retry-After", "1") }
    let response = try await client.get(HTTPRequest(url: origin.url()))
    #expect(response.status == status)
    #expect(String(decoding: response.body, as: UTF8.self) == "Rate Limit Exceeded")
    #expect(origin.requests.count == 1)
  }

  @Test func repeatsServerErrorsAndGivesTheLastOne() async throws {
    let origin = try Origin { request in
      request.path == "/soon" && request.number > 2 ? .json("[]") : .status(503, "busy \(request.number)")
    }
    #expect(try await client.get(HTTPRequest(url: origin.url("/soon"))).status == 200)
    let last = try await client.get(HTTPRequest(url: origin.url("/never")))
    #expect(last.status == 503)
    #expect(String(decoding: last.body, as: UTF8.self) == "busy 7")
  }

  @Test func unpacksCompressedAnswersUpToTheLimit() async throws {
    let plain = Array(repeating: UInt8(ascii: "x"), count: 100_000)
    let origin = try Origin { _ in .ok(gzip(plain)).header("Content-Encoding", "gzip") }
    #expect(try await client.get(HTTPRequest(url: origin.url())).body == Data(plain))
    await #expect(throws: HTTPClientError.self) {
      try await client.get(HTTPRequest(url: origin.url(), byteLimit: 50_000))
    }
  }

  @Test func saysWhyThereIsNoAnswer() async throws {
    let origin = try Origin { _ in .ok(noise(100)).truncated(after: 1) }
    do {
      _ = try await client.get(HTTPRequest(url: origin.url()))
      Issue.record("an answer")
    } catch .unreachable(let reason) {
      #expect(reason.contains("ended"))
    } catch {
      Issue.record("\(error)")
    }
    let url = try #require(URL(string: "file:///etc/hostname"))
    await #expect(throws: HTTPClientError.self) { try await client.get(HTTPRequest(url: url)) }
  }

  @Test func aRequestThatIsGivenUpLetsGoOfItsConnection() async throws {
    let gate = Gate()
    let origin = try Origin { _ in .json("{}").held(by: gate) }
    let task = Task { [client] in
      do {
        _ = try await client.get(HTTPRequest(url: origin.url()))
        return false
      } catch HTTPClientError.cancelled {
        return true
      } catch {
        return false
      }
    }
    #expect(await eventually { origin.runningRequests == 1 })
    task.cancel()
    #expect(await task.value)
    #expect(await eventually { origin.openConnections == 0 })
  }
}
