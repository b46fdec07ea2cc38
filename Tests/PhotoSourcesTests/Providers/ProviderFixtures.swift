@testable import HTTPSemantics
@testable import HTTPTransport
@testable import PhotoSources
@testable import ThumbnailCore
@testable import TransportTestSupport

/// Answers from memory and remembers what it was asked.
final class StubHTTPClient: LedgerSharing {
  private let answer: @Sendable (HTTPRequest, Int) -> Result<HTTPResponse, HTTPClientError>
  private let asked = Mutex<[HTTPRequest]>([])
  let ledger: (any HostLedger)?

  /// `answer` is given each request and its number, from 1.
  init(
    ledger: (any HostLedger)? = nil,
    _ answer: @escaping @Sendable (HTTPRequest, Int) -> Result<HTTPResponse, HTTPClientError>
  ) {
    self.ledger = ledger
    self.answer = answer
  }

  /// A client that always gives the same answer, with the status 200.
  convenience init(_ body: String) { self.init(200, body) }

  /// A client that always gives the same answer.
  convenience init(
    _ status: Int, _ body: String = "", headers: [HTTPHeader] = [], retryAfter: Duration? = nil,
    ledger: (any HostLedger)? = nil
  ) {
    self.init(ledger: ledger) { _, _ in
      .success(HTTPResponse(status: status, headers: headers, body: Data(body.utf8), retryAfter: retryAfter))
    }
  }

  var requests: [HTTPRequest] { asked.withLock { $0 } }

  func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
    let number = asked.withLock {
      $0.append(request)
      return $0.count
    }
    return try answer(request, number).get()
  }
}

/// A copy of a service on loopback, as the real client reaches it.
func provider(
  _ specification: ProviderSpecification, _ service: PhotoServiceOrigin, environment: [String: String] = [:],
  namesContact: Bool = true, clock: ProviderClock = ProviderClock()
) throws -> any PhotoProvider {
  try ProviderSpecification.service(specification, at: service.baseURL.absoluteString).provider(
    environment: environment, client: loopbackClient(), namesContact: namesContact, clock: clock)
}

/// A provider of a service whose client gives the same answer to everything.
func stubbed(
  _ service: PhotoService, _ client: StubHTTPClient, clock: ProviderClock = ProviderClock()
) throws -> ServiceProvider {
  ServiceProvider(service, baseURL: try #require(URL(string: "https://api.example.org")), client: client, clock: clock)
}

/// A folder that is gone with the last reference to it.
final class TemporaryFolder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "providers-\(UUID().uuidString)")
  var path: String { url.path }

  /// Makes the folder with empty files at the given paths.
  init(_ files: String...) throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    for file in files { try add(file) }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Adds a file. The name's bytes arrive on disk as they are.
  func add(_ file: String, _ content: some Collection<UInt8> = [UInt8]()) throws {
    let parent = "\(path)/\(file)".split(separator: "/").dropLast().joined(separator: "/")
    try FileManager.default.createDirectory(atPath: "/\(parent)", withIntermediateDirectories: true)
    let number = open("\(path)/\(file)", O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o644)
    try #require(number >= 0)
    defer { close(number) }
    try #require(write(number, Array(content), content.count) == content.count)
  }

  /// Adds a symbolic link.
  func link(_ file: String, to target: String) throws { try #require(symlink(target, "\(path)/\(file)") == 0) }
}

extension PhotoProvider {
  /// The ids on every page of a search.
  func pages(of query: PhotoQuery) async throws -> [[String]] {
    var pages: [[String]] = []
    var cursor: PageCursor?
    repeat {
      let page = try await search(query, at: cursor)
      pages.append(page.photos.map(\.id))
      cursor = page.next
    } while cursor != nil
    return pages
  }

  /// The ids of all photos of a search.
  func ids(of text: String = "") async throws -> [String] {
    try await pages(of: PhotoQuery(text, pageSize: 1000)).flatMap { $0 }
  }
}

/// A clock whose time passes only when somebody waits for it.
final class TestClock: Sendable {
  private let state = Mutex((now: ContinuousClock().systemEpoch, waits: [Duration]()))
  private let start: Date

  /// A clock that begins at so many seconds since 1970.
  init(at seconds: Double = 1_800_000_000) { start = Date(timeIntervalSince1970: seconds) }

  /// How long each wait was, in their order.
  var waits: [Duration] { state.withLock { $0.waits } }

  /// Lets time pass.
  func advance(by duration: Duration) { state.withLock { $0.now += duration } }

  /// The clock as providers take it. Its date stands still.
  var clock: ProviderClock {
    ProviderClock(
      now: { self.state.withLock { $0.now } }, date: { self.start },
      sleep: { duration in
        self.state.withLock {
          $0.waits.append(duration)
          $0.now += duration
        }
      })
  }
}

/// The real client, which reaches copies of APIs on loopback.
func loopbackClient() -> CurlHTTPClient { CurlHTTPClient(downloader: Downloader(.quick())) }

/// The error that a search ends with; nil when it succeeds.
func searchError(
  _ provider: any PhotoProvider, _ text: String = "lake", at cursor: PageCursor? = nil
) async throws -> ProviderError? {
  do throws(ProviderError) {
    _ = try await provider.search(PhotoQuery(text), at: cursor)
    return nil
  } catch {
    return error
  }
}

/// Photos of lakes with the ids from 1.
func lakes(_ count: Int, type: String = "image/jpeg") -> [OriginPicture] {
  (1...count).map { OriginPicture(id: "\($0)", description: "lake \($0)", body: [1, 2, 3], type: type) }
}
