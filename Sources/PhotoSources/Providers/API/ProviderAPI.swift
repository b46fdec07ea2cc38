import Foundation
import HTTPSemantics
import HTTPTransport
import Synchronization
import ThumbnailCore

/// The HTTP client of a provider's API: paces the requests, adds header fields and maps statuses to errors.
///
/// The underlying client retries transient failures such as a 503. The access key is sent to the API's own host only,
/// and appears in no message.
final class ProviderAPI: Sendable {
  /// The base URL of all paths.
  let baseURL: URL
  /// The provider's name in messages.
  var name: String { dialect.name }

  private let dialect: ProviderDialect
  private let key: AccessKey?
  private let client: any HTTPClient
  private let clock: ProviderClock
  private let pace: Mutex<RequestPace>
  /// A semaphore for the concurrent requests; its units are requests, not bytes.
  private let places: WeightedSemaphore

  init(
    _ dialect: ProviderDialect, baseURL: URL, key: AccessKey? = nil, client: any HTTPClient,
    clock: ProviderClock = ProviderClock()
  ) {
    self.dialect = dialect
    self.baseURL = baseURL
    self.key = key
    self.client = client
    self.clock = clock
    pace = Mutex(RequestPace(dialect.pace))
    places = WeightedSemaphore(capacity: dialect.pace.atOnce)
  }

  /// The URL of a path below the base with a query. All but letters, digits and `-._~` is percent-encoded, so `&`, `+`
  /// and `#` in values are literal.
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

  /// Sends one request when its turn comes. Nil for a 404 if `missingMeansEmpty` is set.
  ///
  /// A URL at a host other than the API's is refused, since the key would be sent to it.
  func get(_ url: URL, missingMeansEmpty: Bool = false) async throws(ProviderError) -> HTTPResponse? {
    guard url.scheme?.lowercased() == baseURL.scheme?.lowercased(), HostName(of: url) == HostName(of: baseURL) else {
      throw .badRequest(provider: name, reason: "\(Snippet.quoted(url.host() ?? "")) is not the API's own host")
    }
    let place = try await waitForTurn()
    defer { place.release() }
    let headers =
      [key?.header(scheme: dialect.keyScheme), HTTPHeader("Accept", "application/json")].compactMap { $0 }
      + dialect.headers
    let response: HTTPResponse
    do {
      response = try await client.get(HTTPRequest(url: url, headers: headers))
    } catch {
      throw self.error(for: error)
    }
    if let pause = dialect.allowance(response, clock.date()) { await close(for: pause) }
    // The status comes first: a rate limit's body is not even JSON.
    if let error = dialect.exception(response) { throw await noted(error) }
    if (200..<300).contains(response.status) { return response }
    if response.status == 404, missingMeansEmpty { return nil }
    throw await noted(error(for: response))
  }

  /// Requests JSON and decodes it.
  func decode<Answer: Decodable>(_ type: Answer.Type, at url: URL) async throws(ProviderError) -> Answer {
    guard let response = try await get(url) else { throw .notFound(provider: name) }
    return try decode(type, from: response)
  }

  /// Decodes a response's JSON.
  func decode<Answer: Decodable>(_ type: Answer.Type, from response: HTTPResponse) throws(ProviderError) -> Answer {
    do {
      return try JSONDecoder().decode(type, from: response.body)
    } catch {
      throw .malformed(
        provider: name, snippet: "\(JSONFault.reason(error)): \(Snippet.body(response.body, hiding: key))")
    }
  }

  // MARK: Pace

  private func waitForTurn() async throws(ProviderError) -> WeightedSemaphore.Reservation {
    let place: WeightedSemaphore.Reservation
    do {
      place = try await places.reserve(1, priority: PriorityControl(.visible))
    } catch {
      throw .cancelled
    }
    switch await withPace({ $0.turn(at: $1) }) {
    case .refused(let retryAfter): throw .rateLimited(provider: name, retryAfter: retryAfter)
    case .go(after: .zero): break
    case .go(let wait):
      do {
        try await clock.sleep(wait)
      } catch {
        await withPace { pace, _ in pace.giveBack() }
        throw .cancelled
      }
    }
    return place
  }

  /// Blocks requests for the given time, or longer if a longer pause is set already. Returns the remaining time.
  @discardableResult
  private func close(for pause: Duration) async -> Duration {
    await withPace { pace, now in
      pace.close(for: min(pause, RequestPace.longestPause), at: now)
      return pace.pause(at: now) ?? pause
    }
  }

  /// The key of the shared rate limit: services count by access key, or by client address without one. Holds no user or
  /// password of the URL.
  private var place: String {
    let host = "\(baseURL.host() ?? ""):\(baseURL.port.map { "\($0)" } ?? "")"
    return "\(host)\(baseURL.path) \(key?.mark ?? "")"
  }

  /// Reads and changes the pace. With a cache it is shared by all processes that use the cache.
  @discardableResult
  private func withPace<Value: Sendable>(
    _ body: @escaping @Sendable (inout RequestPace, ContinuousClock.Instant) -> Value
  ) async -> Value {
    guard let ledger = client.ledger else {
      return pace.withLock { body(&$0, clock.now()) }
    }
    return await ledger.update(.service(name, at: place)) { [clock, rule = dialect.pace] record in
      let (now, date) = (clock.now(), clock.date())
      var pace = RequestPace(rule, record, now: now, date: date)
      let value = body(&pace, now)
      pace.write(to: &record, now: now, date: date)
      return value
    }
  }

  /// Applies a rate limit: blocks requests for the time in the error, or else the one in the provider's documentation.
  private func noted(_ error: ProviderError) async -> ProviderError {
    guard case .rateLimited(let provider, let told) = error else { return error }
    // A `Retry-After` of zero, or in the past, still follows one request too many.
    let pause = max(told ?? dialect.unnamedPause(clock.date()), .seconds(1))
    return .rateLimited(provider: provider, retryAfter: await close(for: pause))
  }

  // MARK: Errors

  private func error(for error: HTTPClientError) -> ProviderError {
    switch error {
    case .cancelled: .cancelled
    case .unreachable(let reason): .unreachable(provider: name, reason: hidden(reason))
    case .paused(let pause): .rateLimited(provider: name, retryAfter: pause)
    case .invalidResponse(let reason): .malformed(provider: name, snippet: hidden(reason))
    }
  }

  private func error(for response: HTTPResponse) -> ProviderError {
    switch response.status {
    case 401 where key != nil:
      .unauthorized(provider: name)
    case 429:
      .rateLimited(provider: name, retryAfter: response.retryAfter)
    case 503 where response.retryAfter != nil:
      .rateLimited(provider: name, retryAfter: response.retryAfter)
    case 403, 451:
      .blocked(provider: name, reason: reason(response))
    case 404:
      .notFound(provider: name)
    case 408, 425, 500...599:
      .unreachable(provider: name, reason: "it answers with status \(response.status), \(reason(response))")
    case 400..<500:
      .badRequest(provider: name, reason: reason(response))
    default:
      .malformed(provider: name, snippet: "status \(response.status), \(reason(response))")
    }
  }

  /// The message in the response: the errors it lists, or else the beginning of its body.
  private func reason(_ response: HTTPResponse) -> String {
    if let answer = try? JSONDecoder().decode(APIErrorResponse.self, from: response.body), let text = answer.text {
      return hidden(text)
    }
    let text = String(decoding: response.body.prefix(4096), as: UTF8.self)
    guard text.drop(while: \.isWhitespace).hasPrefix("<") else { return Snippet.body(response.body, hiding: key) }
    let plain = hidden(HTMLText.plain(text))
    return plain.isEmpty ? "an empty page" : plain
  }

  private func hidden(_ text: String) -> String { Snippet.line(key?.blottedOut(of: text) ?? text) }
}
