import Foundation
import ThumbnailCore

/// The part of `URLListProvider` that runs on its thread: the open file, and lines read but not yet requested.
final class URLListReader: @unchecked Sendable {
  // Safety: all methods are called on the single thread of the provider's pool.

  /// The input of a list.
  enum Input: Sendable {
    /// A file, opened at the first page.
    case path(String)
    /// A file that is already open, such as the standard input.
    case open(FileDescriptor, name: String)
  }

  /// How long a page that has begun waits for more lines before it is returned, in milliseconds.
  private static let patience: Int32 = 100

  private let input: Input
  private var reader: LineReader?
  private var photos: [Photo] = []
  private var skipped: [SkippedItem] = []
  private var failure: ProviderError?
  private var isAtEnd = false
  private var pagesGiven = 0

  init(_ input: Input) {
    self.input = input
  }

  /// The next page: up to `count` lines, valid and invalid.
  ///
  /// Lines read before a cancellation or a failure are kept for the next page.
  func page(
    at cursor: PageCursor?, of count: Int, cancelled: CancellationFlag
  ) throws(ProviderError) -> PhotoPage {
    if cursor == nil, case .path = input { restart() }
    guard cursor?.token ?? "0" == "\(pagesGiven)" else {
      throw .unsupported(provider: URLListProvider.name, reason: "a list can only be read once, page after page")
    }
    try openIfNeeded()
    while photos.count + skipped.count < count, !isAtEnd, failure == nil {
      if cancelled.isSet { throw .cancelled }
      if !takeLine() { break }
    }
    if photos.isEmpty, skipped.isEmpty, let failure { throw failure }
    pagesGiven += 1
    defer {
      photos = []
      skipped = []
    }
    return PhotoPage(photos: photos, next: isAtEnd ? nil : PageCursor("\(pagesGiven)"), skipped: skipped)
  }

  /// Reads one line. False if the page should be returned now.
  private func takeLine() -> Bool {
    switch reader?.next(patience: Self.patience) ?? .end {
    case .line(.text(let bytes, let number)):
      if number == 1, bytes.contains(0) || String(validating: bytes, as: UTF8.self) == nil {
        // Fail early if the file is an image: it would give thousands of invalid lines.
        failure = .listUnreadable(
          path: name, reason: "it is no text; give a list of URLs, or fetch a single picture with thumbs get")
        return true
      }
      do throws(ItemFault) {
        if let photo = try URLListLine.photo(bytes, number: number) { photos.append(photo) }
      } catch {
        skipped.append(SkippedItem(place: "line \(number)", reason: error.reason))
      }
    case .line(.overlong(let number)):
      let limit = LineReader.longestLine >> 10
      skipped.append(SkippedItem(place: "line \(number)", reason: "it is longer than \(limit) KiB"))
    case .part: break
    case .idle:
      return photos.isEmpty && skipped.isEmpty
    case .end:
      isAtEnd = true
    case .failure(let cause):
      failure = .listUnreadable(path: name, reason: cause.reason)
    }
    return true
  }

  private func restart() {
    reader = nil
    photos = []
    skipped = []
    failure = nil
    isAtEnd = false
    pagesGiven = 0
  }

  private func openIfNeeded() throws(ProviderError) {
    guard reader == nil else { return }
    switch input {
    case .open(let file, _):
      reader = LineReader(file)
    case .path(let path):
      // Not blocking: open() of a named pipe without a writer would block, and could not be cancelled.
      let number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard number >= 0 else { throw .listUnreadable(path: path, reason: SystemFailure.last.reason) }
      reader = LineReader(FileDescriptor(owning: number))
    }
  }

  private var name: String {
    switch input {
    case .path(let path): path
    case .open(_, let name): name
    }
  }
}
