import Foundation
import Synchronization

@testable import HTTPSemantics
@testable import HTTPTransport
@testable import PhotoSources
@testable import ThumbnailCore

/// Responses of photo services: the first line names the provider, a head may follow, the rest is the body. With
/// another first line the input is a list of URLs. Whatever a service sends, the photos lead to the web, their texts are
/// plain lines, they survive being stored, and errors are one line without the access key.
func fuzzProviders(_ input: FuzzInput) {
  let lines = input.lines(atMost: 2)
  let name = String(decoding: lines[0], as: UTF8.self)
  guard lines.count == 2, let provider = provider(named: name) else { return checkList(input) }
  for query in [PhotoQuery("sea"), PhotoQuery("")] {
    let page = requireTime(.seconds(5), "a page of \(lines[1].count) bytes") {
      waiting { () async throws(ProviderError) in
        try await provider(CannedClient(Array(lines[1]))).search(query, at: nil)
      }
    }
    switch page {
    case .success(let page): check(page)
    case .failure(let error): check(error, hasKey: ["unsplash", "pexels"].contains(name))
    }
  }
}

private let key = "fuzzing-key-0123456789"

/// Makes the provider of that name; nil without one.
private func provider(named name: String) -> (@Sendable (CannedClient) -> any PhotoProvider)? {
  guard let url = URL(string: "https://api.example.org"), let accessKey = AccessKey(key) else { return nil }
  let clock = ProviderClock(date: { Date(timeIntervalSince1970: 1_767_225_600) }, sleep: { _ in })
  return switch name {
  case "unsplash": { ServiceProvider(.unsplash(), baseURL: url, key: accessKey, client: $0, clock: clock) }
  case "pexels": { ServiceProvider(.pexels, baseURL: url, key: accessKey, client: $0, clock: clock) }
  case "commons": { ServiceProvider(.commons(), baseURL: url, client: $0, clock: clock) }
  default: nil
  }
}

/// Responds to every request with the same bytes: a body, or a head and a body.
private struct CannedClient: HTTPClient {
  private let response: HTTPResponse

  init(_ bytes: [UInt8]) {
    var head = ResponseHead()
    var rest = bytes[...]
    var isComplete = false
    if bytes.starts(with: "HTTP/".utf8) {
      while !isComplete, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        isComplete = rest[..<end].withUnsafeBytes { head.take($0) }
        rest = rest[(end + 1)...]
      }
    }
    response =
      isComplete
      ? HTTPResponse(
        status: head.status, headers: head.headers, body: Data(rest),
        retryAfter: head.retryAfter(now: Date(timeIntervalSince1970: 1_767_225_600)))
      : HTTPResponse(status: 200, body: Data(bytes))
  }

  func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse { response }
}

/// The result of an asynchronous call, which waits for nothing but the processor.
private func waiting<Value: Sendable>(
  _ body: @escaping @Sendable () async throws(ProviderError) -> Value
) -> Result<Value, ProviderError> {
  let slot = ResultSlot<Value>()
  let done = DispatchSemaphore(value: 0)
  Task {
    let result: Result<Value, ProviderError>
    do throws(ProviderError) { result = .success(try await body()) } catch { result = .failure(error) }
    slot.result.withLock { $0 = result }
    done.signal()
  }
  done.wait()
  return slot.result.withLock { $0 } ?? .failure(.cancelled)
}

private final class ResultSlot<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, ProviderError>?>(nil)
}

private func check(_ page: PhotoPage) {
  require(page.photos.count <= 1000, "\(page.photos.count) photos on a page")
  require(page.total ?? 0 >= 0, "\(page.total ?? 0) photos in all")
  for photo in page.photos { check(photo) }
  for item in page.skipped { require(item.message.isOneLine, "an item is left out: \(item.message)") }
}

private func check(_ photo: Photo) {
  require((1...200).contains(photo.id.utf8.count), "an id of \(photo.id.utf8.count) bytes")
  require(photo.id.isOneLine && photo.provider.isOneLine, "an id of several lines")
  for text in [photo.title, photo.author, photo.attribution, photo.licence?.name] {
    require(text?.isOneLine != false, "a text of several lines: \(text ?? "")")
    require(text?.isEmpty != true && text?.utf8.count ?? 0 < 10_000, "a text of \(text?.utf8.count ?? 0) bytes")
  }
  for url in [photo.authorURL, photo.pageURL, photo.licence?.url, photo.downloadLocation] {
    require(url.map(leadsToTheWeb) ?? true, "a link to \(url?.absoluteString ?? "")")
  }
  require(photo.size.map { $0.width > 0 && $0.height > 0 } ?? true, "a photo of \(photo.size?.description ?? "")")
  let source = photo.source(for: PixelSize(400, 300), fit: .cover)
  for url in [source.url] + source.alternates { require(leadsToTheWeb(url), "a photo at \(url.absoluteString)") }
  let stored = try? JSONDecoder().decode(Photo.self, from: JSONEncoder().encode(photo))
  require(stored == photo, "\(photo) is stored as another one")
}

private func leadsToTheWeb(_ url: URL) -> Bool {
  ["http", "https"].contains(url.scheme?.lowercased()) && url.host()?.isEmpty == false
}

/// Of a provider without a key, what looks like one is the service's own text.
private func check(_ error: ProviderError, hasKey: Bool) {
  require(error.message.isOneLine, "an error of several lines: \(error.message)")
  require(error.message.utf8.count < 10_000, "an error of \(error.message.utf8.count) bytes")
  require(!hasKey || !error.message.contains(key), "the access key is in \(error.message)")
  require(error.retryAfter >= .zero, "a pause of \(error.retryAfter)")
}

/// Each line of a list by itself.
private func checkList(_ input: FuzzInput) {
  for line in input.lines(atMost: 50) {
    do throws(ItemFault) {
      guard let photo = try URLListLine.photo(Array(line), number: 1) else { continue }
      let source = photo.source(for: PixelSize(400, 300), fit: .cover)
      require(leadsToTheWeb(source.url), "a photo at \(source.url)")
      require(source.headers.allSatisfy(\.isWellFormed), "\(source.headers) would be sent")
    } catch {
      require(error.reason.isOneLine, "a line is wrong: \(error.reason)")
    }
  }
}
