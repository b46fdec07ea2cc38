import Foundation

/// Speaks HTTP with Unsplash: addresses, header fields, and what each status means. The client repeats what may pass.
struct UnsplashAPI: Sendable {
  let key: AccessKey
  let baseURL: URL
  let client: any HTTPClient

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

  /// Asks once. Nil for an answer that says there is nothing: 404, where `missingMeansEmpty`.
  func get(_ url: URL, missingMeansEmpty: Bool = false) async throws(ProviderError) -> HTTPResponse? {
    let request = HTTPRequest(
      url: url,
      headers: [
        key.header(scheme: "Client-ID"), HTTPHeader("Accept-Version", "v1"), HTTPHeader("Accept", "application/json"),
      ])
    let response: HTTPResponse
    do {
      response = try await client.get(request)
    } catch {
      throw self.error(for: error)
    }
    // The status first: at the limit the body is not even JSON.
    if (200..<300).contains(response.status) { return response }
    if response.status == 404, missingMeansEmpty { return nil }
    throw self.error(for: response)
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

  private func error(for error: HTTPClientError) -> ProviderError {
    switch error {
    case .cancelled: .cancelled
    case .unreachable(let reason): .unreachable(provider: Self.name, reason: hidden(reason))
    case .invalidAnswer(let reason): .malformed(provider: Self.name, snippet: hidden(reason))
    }
  }

  private func error(for response: HTTPResponse) -> ProviderError {
    let name = Self.name
    switch response.status {
    case 401:
      return .unauthorized(provider: name)
    case 429:
      return .rateLimited(provider: name, retryAfter: response.retryAfter)
    case 403 where isRateLimit(response):
      return .rateLimited(provider: name, retryAfter: response.retryAfter)
    case 403, 451:
      return .blocked(provider: name, reason: reason(response))
    case 404:
      return .notFound(provider: name)
    case 410:
      return .badRequest(provider: name, reason: "it takes the words for spam; use other words")
    case 408, 425, 500...599:
      return .unreachable(
        provider: name, reason: "it answers with status \(response.status), \(reason(response))")
    case 400..<500:
      return .badRequest(provider: name, reason: reason(response))
    default:
      return .malformed(provider: name, snippet: "status \(response.status), \(reason(response))")
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
