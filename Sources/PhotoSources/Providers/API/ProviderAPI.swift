public import Foundation
public import HTTPSemantics
public import HTTPTransport
import Synchronization
import ThumbnailCore

/// The HTTP API of a photo service: paces the requests, adds header fields, decodes JSON and maps statuses to errors.
///
/// The underlying client retries transient failures such as a 503. Header fields, and with them the access key, are
/// sent to the API's own host only. Once the service limits requests, further ones fail at once until that has passed,
/// in all processes that share the pipeline's cache.
public final class ProviderAPI: Sendable {
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
  private let slots: WeightedSemaphore

  /// The API of a service.
  ///
  /// - Parameters:
  ///   - name: The provider's name in messages.
  ///   - baseURL: The URL that the paths of requests are appended to.
  ///   - headers: The header fields of every request, such as an access key.
  ///   - interval: The least average interval between two requests.
  ///   - client: Sends the requests, such as `ThumbnailPipeline.httpClient`.
  public convenience init(
    name: String, baseURL: URL, headers: [HTTPHeader] = [], interval: Duration = .zero, client: any HTTPClient
  ) {
    let pace = RequestPace.Rule(interval: interval)
    self.init(ProviderDialect(name: name, headers: headers, pace: pace), baseURL: baseURL, client: client)
  }

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
    slots = WeightedSemaphore(capacity: dialect.pace.atOnce)
  }

  /// The URL of a path below the base with a query. All but letters, digits and `-._~` is percent-encoded, so `&`, `+`
  /// and `#` in values are literal.
  ///
  /// - Throws: `ProviderError.invalidAddress` if the base URL cannot have a path.
  public func url(_ path: String, _ query: [(name: String, value: String)]) throws(ProviderError) -> URL {
    let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    var components = URLComponents(url: baseURL.appending(path: path), resolvingAgainstBaseURL: true)
    components?.fragment = nil
    components?.percentEncodedQuery = query.map { item in
      "\(item.name)=\(item.value.addingPercentEncoding(withAllowedCharacters: plain) ?? "")"
    }.joined(separator: "&")
    guard let url = components?.url else { throw .invalidAddress(baseURL.absoluteString) }
    return url
  }

  /// Sends one request when its turn comes.
  ///
  /// A URL at a host other than the API's is refused, because the key would be sent to it.
  func get(_ url: URL) async throws(ProviderError) -> HTTPResponse {
    guard url.scheme?.lowercased() == baseURL.scheme?.lowercased(), HostName(of: url) == HostName(of: baseURL) else {
      throw .badRequest(provider: name, reason: "\(Snippet.quoted(url.host() ?? "")) is not the API's own host")
    }
    let slot = try await waitForTurn()
    defer { slot.release() }
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
    if let error = dialect.exception(response) { throw await closing(after: error) }
    if (200..<300).contains(response.status) { return response }
    throw await closing(after: error(for: response))
  }

  /// Requests JSON when its turn comes, and decodes it.
  ///
  /// - Throws: `ProviderError` for a failure of the connection, the status or the JSON.
  public func decode<Content: Decodable>(_ type: Content.Type, at url: URL) async throws(ProviderError) -> Content {
    try decode(type, from: await get(url))
  }

  /// Decodes a response's JSON.
  func decode<Content: Decodable>(
    _ type: Content.Type, from response: HTTPResponse
  ) throws(ProviderError) -> Content {
    do {
      return try JSONDecoder().decode(type, from: response.body)
    } catch {
      throw malformed(response, JSONFault.reason(error))
    }
  }

  /// The error for a response with a fault.
  func malformed(_ response: HTTPResponse, _ fault: String) -> ProviderError {
    .malformed(provider: name, snippet: "\(fault): \(Snippet.body(response.body, hiding: key))")
  }

  // MARK: Pace

  private func waitForTurn() async throws(ProviderError) -> WeightedSemaphore.Reservation {
    let slot: WeightedSemaphore.Reservation
    do {
      slot = try await slots.reserve(1, priority: PriorityControl(.visible))
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
        await withPace { pace, _ in pace.returnTurn() }
        throw .cancelled
      }
    }
    return slot
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
  private var ledgerKey: String {
    let host = "\(baseURL.host() ?? ""):\(baseURL.port.map { "\($0)" } ?? "")"
    return "\(host)\(baseURL.path) \(key?.digestPrefix ?? "")"
  }

  /// Reads and changes the pace. With a cache it is shared by all processes that use the cache.
  @discardableResult
  private func withPace<Value: Sendable>(
    _ body: @escaping @Sendable (inout RequestPace, ContinuousClock.Instant) -> Value
  ) async -> Value {
    guard let ledger = (client as? any LedgerSharing)?.ledger else {
      return pace.withLock { body(&$0, clock.now()) }
    }
    return await ledger.update(.service(name, at: ledgerKey)) { [clock, rule = dialect.pace] record in
      let (now, date) = (clock.now(), clock.date())
      var pace = RequestPace(rule, record, now: now, date: date)
      let value = body(&pace, now)
      pace.write(to: &record, now: now, date: date)
      return value
    }
  }

  /// Applies a rate limit: blocks requests for the time in the error, or else the one in the provider's documentation.
  private func closing(after error: ProviderError) async -> ProviderError {
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
    case .addressRefused(let reason): .addressRefused(provider: name, reason: hidden(reason))
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
    if let text = JSON(response.body).flatMap(Self.message) { return hidden(text) }
    let text = String(decoding: response.body.prefix(4096), as: UTF8.self)
    guard text.drop(while: \.isWhitespace).hasPrefix("<") else { return Snippet.body(response.body, hiding: key) }
    let plain = hidden(HTMLText.plain(text))
    return plain.isEmpty ? "an empty page" : plain
  }

  /// The error message in a response; nil if there is none. Each API has its own format.
  private static func message(in json: JSON) -> String? {
    if let errors = json["errors"]?.list?.compactMap(\.text), !errors.isEmpty { return errors.joined(separator: ", ") }
    if let information = json["error.info"]?.text { return information }
    if case .object(let fields)? = json["detail"] {
      return fields.sorted { $0.key < $1.key }
        .map { "\($0.key): \(($0.value.list ?? [$0.value]).compactMap(\.text).joined(separator: ", "))" }
        .joined(separator: ", ")
    }
    return ["error", "detail", "message"].lazy.compactMap { json[$0]?.text }.first { !$0.isEmpty }
  }

  private func hidden(_ text: String) -> String { Snippet.line(key?.redacted(in: text) ?? text) }
}
