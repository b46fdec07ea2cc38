import Foundation
import HTTPTransport
import ThumbnailCore

/// A photo service: its requests and the fields of its responses. `ServiceProvider` does the rest.
struct PhotoService: Sendable {
  /// The requested page.
  struct Page: Sendable {
    /// The query's text, trimmed.
    let text: String
    /// How many photos to request: the query's page size, up to the service's largest.
    let size: Int
    /// The cursor; nil for the first page.
    let cursor: PageCursor?
    /// The page's number, from 1. Always 1 with a service whose cursors are no numbers.
    let number: Int
    /// Whether random photos are wanted instead of those of a query.
    let isRandom: Bool

    /// The cursor of the next numbered page. An empty page is the last.
    func next(after items: [JSON], if hasNext: Bool) -> PageCursor? {
      hasNext && !items.isEmpty ? PageCursor("\(number + 1)") : nil
    }

    /// The cursor of the next page of a service that links to it with the `Link` field. Without one, a full page is not
    /// the last, unless the service reports the number of `pages`.
    ///
    /// The link is used only as a flag: its URL has the service's own host, whatever the base URL.
    func next(after items: [JSON], linkedIn response: HTTPResponse, pages: Int? = nil) -> PageCursor? {
      let guess = if let pages, pages > 0 { number < pages } else { items.count >= size }
      return next(after: items, if: response.value(of: "Link")?.contains("rel=\"next\"") ?? guess)
    }
  }

  typealias Request = (path: String, query: [(name: String, value: String)])
  typealias Content = (items: [JSON], next: PageCursor?, total: Int?)

  /// Its HTTP API.
  var dialect: ProviderDialect
  /// The base URL, unless another one is specified.
  var baseURL: String
  /// The largest page. Items beyond it are dropped, which bounds the memory.
  var largestPage: Int
  /// Whether its cursors are page numbers.
  var numbersPages = true
  /// The most consecutive pages without a photo, whose items are all of other kinds. They do not end a search.
  var mostBarrenPages = 0
  /// The request for a page.
  var request: @Sendable (Page) throws(ProviderError) -> Request
  /// The content of the response.
  var content: @Sendable (JSON, HTTPResponse, Page) throws(ItemFault) -> Content
  /// The photo of an item; nil for an item of a kind to be left out silently.
  var photo: @Sendable (JSON) throws(ItemFault) -> Photo?
  /// Picks random photos; nil if the service cannot.
  var random: (@Sendable (ServiceProvider, Int) async throws(ProviderError) -> [Photo])?
}

/// The photos of a service, through its API. The access key appears in no message, log or description.
struct ServiceProvider: PhotoProvider {
  private let service: PhotoService
  private let api: ProviderAPI

  /// - Parameter baseURL: The URL of the API, if not the service's own; may have a path.
  init(
    _ service: PhotoService, baseURL: URL, key: AccessKey? = nil, client: any HTTPClient,
    clock: ProviderClock = ProviderClock()
  ) {
    self.service = service
    api = ProviderAPI(service.dialect, baseURL: baseURL, key: key, client: client, clock: clock)
  }

  var name: String { service.dialect.name }
  var capabilities: ProviderCapabilities {
    ProviderCapabilities(
      picksRandom: service.random != nil, largestPageSize: service.largestPage, mayLoop: true)
  }

  func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    var page = try await page(of: query, at: cursor)
    for _ in 0..<service.mostBarrenPages {
      guard page.photos.isEmpty, page.skipped.isEmpty, let next = page.next else { break }
      page = try await self.page(of: query, at: next)
    }
    return page
  }

  func random(count: Int) async throws(ProviderError) -> [Photo] {
    guard let random = service.random else { throw notRandom }
    return count > 0 ? try await random(self, count) : []
  }

  /// Requests the photo's `downloadLocation`, as Unsplash's terms require when a photo is used.
  ///
  /// Nothing is sent for a photo of another provider, or one without that URL.
  func reportUse(of photo: Photo) async throws(ProviderError) {
    guard photo.provider == name, let location = photo.downloadLocation else { return }
    do throws(ProviderError) { _ = try await api.get(location) } catch {
      if error != .notFound(provider: name) { throw error }
    }
  }

  /// One page of the query, or of random photos.
  func page(
    of query: PhotoQuery, at cursor: PageCursor? = nil, isRandom: Bool = false
  ) async throws(ProviderError) -> PhotoPage {
    let page = PhotoService.Page(
      text: query.text.trimmingCharacters(in: .whitespacesAndNewlines),
      size: min(query.pageSize, service.largestPage), cursor: cursor, number: try number(of: cursor),
      isRandom: isRandom)
    let (path, parameters) = try service.request(page)
    let response = try await api.get(try api.url(path, parameters))
    let json = try api.decode(JSON.self, from: response)
    let content: PhotoService.Content
    do throws(ItemFault) {
      content = try service.content(json, response, page)
    } catch {
      throw api.malformed(response, error.reason)
    }
    let (photos, skipped) = try photos(of: content.items)
    // Beyond the last page services report a total of 0, which is right only on the first page.
    let total = content.total == 0 && page.number > 1 ? nil : content.total
    return PhotoPage(photos: photos, next: content.next, total: total, skipped: skipped)
  }

  private func number(of cursor: PageCursor?) throws(ProviderError) -> Int {
    guard service.numbersPages, let cursor else { return 1 }
    guard let number = Int(cursor.token), (1...1_000_000).contains(number) else {
      throw .badRequest(provider: name, reason: "this page cursor is not one of \(name)")
    }
    return number
  }

  /// The photos of a page's items, and the faults of the others. Fails only when all items are malformed.
  private func photos(of items: [JSON]) throws(ProviderError) -> (photos: [Photo], skipped: [SkippedItem]) {
    var photos: [Photo] = []
    var skipped: [SkippedItem] = []
    var leftOut = 0
    var firstFault: String?
    for (index, item) in items.prefix(service.largestPage).enumerated() {
      do throws(ItemFault) {
        if let photo = try service.photo(item) { photos.append(photo) } else { leftOut += 1 }
      } catch {
        skipped.append(SkippedItem(place: "item \(index + 1)", reason: error.reason))
        if error.isMalformed { firstFault = firstFault ?? error.reason }
      }
    }
    if photos.isEmpty, leftOut == 0, let firstFault {
      throw .malformed(provider: name, snippet: "none of \(items.count) photos can be read: \(firstFault)")
    }
    if items.count > service.largestPage {
      let reason = "it and all after it are more than a page of \(name) has"
      skipped.append(SkippedItem(place: "item \(service.largestPage + 1)", reason: reason))
    }
    return (photos, skipped)
  }

  /// Collects random photos from a service with a limited batch size, which may repeat photos. Ends when there are
  /// enough distinct photos, or a batch has none.
  ///
  /// - Parameters:
  ///   - spareCalls: The most requests beyond the needed ones: a service that repeats itself would be called
  ///     without end.
  ///   - batch: Requests one batch, given the number still missing; may return more or fewer.
  func collect(
    _ count: Int, spareCalls: Int, by batch: (_ missing: Int) async throws(ProviderError) -> [Photo]
  ) async throws(ProviderError) -> [Photo] {
    var photos: [Photo] = []
    var seen: Set<String> = []
    for _ in 0..<count / service.largestPage + spareCalls where photos.count < count {
      do throws(ProviderError) {
        let batch = try await batch(count - photos.count)
        if batch.isEmpty { break }
        photos += batch.filter { seen.insert($0.id).inserted }
      } catch {
        // The photos so far are better than the error, unless the task was cancelled.
        if photos.isEmpty || error == .cancelled { throw error }
        Log.providers.warning("\(name): \(photos.count) of \(count) photos: \(error.message)")
        break
      }
    }
    return Array(photos.prefix(count))
  }
}
