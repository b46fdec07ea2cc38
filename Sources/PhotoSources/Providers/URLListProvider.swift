import Foundation
import ThumbnailCore

/// The photos of a list of URLs, from a file or the standard input.
///
/// A line is a URL, or a JSON object `{"url": …}` that may also have an `id`, a `title`, and `headers` to send with the
/// request (an object of texts). Blank lines and lines that begin with `#` mean nothing. A line that cannot be read is
/// left out and told among the page's `skipped`, with its number.
///
/// The list is read as pages are asked for, and never kept: one without an end works. When nothing more comes for a
/// tenth of a second, a page goes out with less than was asked.
public final class URLListProvider: PhotoProvider {
  static let name = "urls"

  /// `urls`
  public var name: String { Self.name }
  /// Neither searches nor picks at random.
  public let capabilities: ProviderCapabilities

  private let reader: URLListReader
  /// One thread, which may wait for a line for hours, and which alone touches the reader.
  private let pool = WorkerPool(name: "url-list", threads: 1)

  /// Reads a file, which is not opened before the first page.
  ///
  /// - Parameter allowsFiles: Whether the list may name local files, as paths or `file:` URLs. A list may come from
  ///   elsewhere, so by default it may not. Relative paths count from the current directory.
  public convenience init(path: String, allowsFiles: Bool = false) {
    self.init(.path(path), allowsFiles: allowsFiles)
  }

  /// Reads the standard input, which can be done once.
  public static func standardInput(allowsFiles: Bool = false) -> URLListProvider {
    // A number of our own: the standard input stays open when the provider goes.
    URLListProvider(
      .open(FileDescriptor(owning: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), name: "-"), allowsFiles: allowsFiles)
  }

  init(_ input: URLListReader.Input, allowsFiles: Bool = false) {
    let canRestart = if case .path = input { true } else { false }
    capabilities = ProviderCapabilities(
      searches: false, picksRandom: false, canRestart: canRestart, repeatsOnPurpose: true)
    reader = URLListReader(input, allowsFiles: allowsFiles)
  }

  /// Whether the thread is reading, or waiting for something to read.
  var isReading: Bool { pool.running > 0 }

  /// The next lines. Pages are to be asked for one after the other; asking a file for its first page begins anew.
  public func search(_ query: PhotoQuery, at cursor: PageCursor?) async throws(ProviderError) -> PhotoPage {
    guard SearchText.words(of: query.text).isEmpty else {
      throw .unsupported(provider: name, reason: "a list of URLs cannot be searched; leave out the query")
    }
    let result: Result<PhotoPage, ProviderError>
    do {
      result = try await pool.run(priority: PriorityControl(.visible)) { [reader] cancelled in
        Result { () throws(ProviderError) in
          try reader.page(at: cursor, of: query.pageSize, cancelled: cancelled)
        }
      }
    } catch {
      throw .cancelled
    }
    return try result.get()
  }

  /// Not possible: a list is read in its order.
  public func random(count: Int) async throws(ProviderError) -> [Photo] {
    throw .unsupported(provider: name, reason: "a list of URLs is read in its order, not at random")
  }
}
