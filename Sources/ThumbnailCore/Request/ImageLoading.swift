public import Foundation

/// Loads the bytes of images from where only the program can get them: an archive, a database, a protocol of its own.
/// See `ImageSource.loaded(by:identity:)`.
///
/// Called once for all requests that share a job, from any thread, and not again for what the caches have. It must not
/// wait for the pipeline.
public protocol ImageLoading: Sendable {
  /// Whether the images are on this machine. Others are not loaded offline (`CacheMode.offline`). Default: false.
  var isLocal: Bool { get }

  /// Loads an image, or begins to.
  ///
  /// The calling task is cancelled when nobody waits for the image any more. A `ThumbnailError` that is thrown reaches
  /// whoever requested the image as it is, any other error as `unreachable`. Nothing is tried again.
  func load(_ request: ImageLoadRequest) async throws -> LoadedImage
}

extension ImageLoading {
  /// Not on this machine.
  public var isLocal: Bool { false }
}

/// What a program is asked to load.
public struct ImageLoadRequest: Sendable {
  /// The identity of the image, as its source has it.
  public let identity: String
  /// The most bytes that are taken; a longer image fails with `tooLarge`.
  public let byteLimit: Int
  /// How urgently, at the moment.
  public let priority: Priority

  package init(identity: String, byteLimit: Int, priority: Priority) {
    (self.identity, self.byteLimit, self.priority) = (identity, byteLimit, priority)
  }
}

/// The bytes of an image, at hand or as they come.
public struct LoadedImage: Sendable {
  /// The length in bytes, if it is known before the end.
  public let expectedLength: Int?
  /// The bytes in order, in pieces of any length.
  package let pieces: AsyncThrowingStream<Data, any Error>

  /// An image that is at hand.
  public init(_ data: Data) {
    let pieceLength = 64 << 10
    var rest = data[...]
    self.init(expectedLength: data.count) {
      if rest.isEmpty { return nil }
      defer { rest = rest.dropFirst(pieceLength) }
      return rest.prefix(pieceLength)
    }
  }

  /// An image that comes in pieces: `next` returns one at each call, and nil after the last. It is not called again once
  /// the thumbnails can be made from what has come, such as the first scans of a progressive JPEG.
  public init(expectedLength: Int? = nil, next: @escaping () async throws -> Data?) {
    self.expectedLength = expectedLength
    pieces = AsyncThrowingStream(unfolding: next)
  }
}

/// An image in memory.
struct ImageInMemory: ImageLoading {
  let data: Data

  var isLocal: Bool { true }

  func load(_ request: ImageLoadRequest) -> LoadedImage { LoadedImage(data) }
}
