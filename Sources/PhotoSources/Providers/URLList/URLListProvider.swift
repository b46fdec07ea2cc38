import Foundation
import ThumbnailCache
import ThumbnailCore

/// The photos of a list of URLs, from a file or the standard input.
///
/// A line is a URL, or a JSON object `{"url": …}` with optional `id`, `title` and `headers` for the request (an object
/// of strings). Blank lines and lines that begin with `#` are ignored. Invalid lines are reported in the page's
/// `skipped`, with their numbers.
///
/// The list is streamed as pages are requested, so it may be endless. If no line arrives for 100 ms, a shorter page is
/// returned.
public final class URLListProvider: PhotoProvider {
  package static let name = "urls"

  /// `urls`
  public var name: String { Self.name }
  /// Supports neither search nor random photos.
  public let capabilities = ProviderCapabilities(searches: false, repeatsOnPurpose: true)

  private let reader: URLListReader
  /// A single thread, which may wait for a line for hours, and is the only one that uses the reader.
  private let pool = WorkerPool(name: "url-list", threads: 1)

  /// Reads a file, which is opened at the first page.
  public convenience init(path: String) { self.init(.path(path)) }

  /// Reads the standard input, which is possible only once.
  package static func standardInput() -> URLListProvider { URLListProvider(.open(.standardInput, name: "-")) }

  init(_ input: URLListReader.Input) { reader = URLListReader(input) }

  /// Whether the thread is reading or waiting for input.
  var isReading: Bool { pool.running > 0 }

  /// The next lines. Pages have to be requested in sequence; for a file, the first page can be requested again.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    guard SearchText.words(of: query.text).isEmpty else {
      throw .unsupported(provider: name, reason: "a list of URLs cannot be searched; leave out the query")
    }
    return try await pool.provide { [reader] cancelled throws(ProviderError) in
      try reader.page(at: cursor, of: query.pageSize, cancelled: cancelled)
    }
  }
}
