import Foundation

/// Speaks HTTP with Unsplash: addresses, header fields, retries, and what each status means.
struct UnsplashAPI: Sendable {
  let key: AccessKey
  let baseURL: URL
  let client: any HTTPClient
  let retry: ProviderRetry

  /// What an answer that was not a success means.
  private enum Verdict {
    /// The same request may succeed in a while.
    case passing(ProviderError, retryAfter: Duration?)
    case final(ProviderError)
  }

  private static let name = UnsplashProvider.name

  /// The URL of a path below the base with a query, in which everything but letters, digits and `-._~` is encoded:
  /// `&`, `+` and `#` in a query mean themselves.
  func url(_ path: String, _ query: [(name: String, value: String)]) throws(ProviderError) -> URL {
    let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    var components = URLComponents(url: baseURL.appending(path: path), resolvingAgainstBaseURL: true)
    components?.fragment = nil
    components?.percentEncodedQuery = query.map { item in
      "\(item.name)=\(item.value.addingPercentEncoding(withAllowedCharacters: plain) ?? "")"
    }.joined(separator: "&")
    guard let url = components?.url else { throw .invalidAddress(baseURL.absoluteString) }
    return url
  }

  /// Asks until there is a successful answer, one that says there is nothing (`nil`, for `missingMeansEmpty` and 404),
  /// or no hope.
  func get(_ url: URL, missingMeansEmpty: Bool = false) async throws(ProviderError) -> HTTPResponse? {
    let request = HTTPRequest(
      url: url,
      headers: [
        key.header(scheme: "Client-ID"), HTTPHeader("Accept-Version", "v1"), HTTPHeader("Accept", "application/json"),
      ])
    var failures = 0
    while true {
      let verdict: Verdict
      do {
        let response = try await client.get(request)
        // The status first: at the limit the body is not even JSON.
        if (200..<300).contains(response.status) { return response }
        if response.status == 404, missingMeansEmpty { return nil }
        verdict = self.verdict(on: response)
      } catch {
        verdict = try self.verdict(on: error)
      }
      switch verdict {
      case .final(let error):
        throw error
      case .passing(let error, let retryAfter):
        failures += 1
        guard let wait = retry.wait(before: failures, retryAfter: retryAfter) else { throw error }
        Log.providers.debug("\(Self.name): retry \(failures) in \(wait): \(error.code)")
        do { try await retry.sleep(wait) } catch { throw .cancelled }
      }
    }
  }

  /// Reads an answer's JSON.
  func decode<Answer: Decodable>(_ type: Answer.Type, from response: HTTPResponse) throws(ProviderError) -> Answer {
    do {
      return try JSONDecoder().decode(type, from: response.body)
    } catch {
      throw .malformed(
        provider: Self.name, snippet: "\(JSONFault.reason(error)): \(Snippet.body(response.body, hiding: key))")
    }
  }

  private func verdict(on error: HTTPClientError) throws(ProviderError) -> Verdict {
    switch error {
    case .cancelled:
      throw .cancelled
    case .unreachable(let reason):
      return .passing(.unreachable(provider: Self.name, reason: hidden(reason)), retryAfter: nil)
    case .invalidAnswer(let reason):
      return .passing(.malformed(provider: Self.name, snippet: hidden(reason)), retryAfter: nil)
    }
  }

  private func verdict(on response: HTTPResponse) -> Verdict {
    let name = Self.name
    let retryAfter = retry.retryAfter(of: response)
    switch response.status {
    case 401:
      return .final(.unauthorized(provider: name))
    case 429:
      return .final(.rateLimited(provider: name, retryAfter: retryAfter))
    case 403 where isRateLimit(response):
      return .final(.rateLimited(provider: name, retryAfter: retryAfter))
    case 403, 451:
      return .final(.blocked(provider: name, reason: reason(response)))
    case 404:
      return .final(.notFound(provider: name))
    case 410:
      return .final(.badRequest(provider: name, reason: "it takes the words for spam; use other words"))
    case 408, 425, 500...599:
      let error = ProviderError.unreachable(
        provider: name, reason: "it answers with status \(response.status), \(reason(response))")
      return .passing(error, retryAfter: retryAfter)
    case 400..<500:
      return .final(.badRequest(provider: name, reason: reason(response)))
    default:
      return .final(.malformed(provider: name, snippet: "status \(response.status), \(reason(response))"))
    }
  }

  /// A used-up limit comes as a 403 in plain text, not as the 429 that the documentation names.
  private func isRateLimit(_ response: HTTPResponse) -> Bool {
    let remaining = response.value(of: "X-Ratelimit-Remaining").flatMap { Int($0) }
    return remaining == 0 || String(decoding: response.body.prefix(4096), as: UTF8.self).contains("Rate Limit")
  }

  /// What the answer says itself: its list of errors, or else its beginning.
  private func reason(_ response: HTTPResponse) -> String {
    struct Answer: Decodable { let errors: [String] }
    if let answer = try? JSONDecoder().decode(Answer.self, from: response.body), !answer.errors.isEmpty {
      return hidden(answer.errors.joined(separator: ", "))
    }
    return Snippet.body(response.body, hiding: key)
  }

  private func hidden(_ text: String) -> String { Snippet.line(key.blottedOut(of: text)) }
}
