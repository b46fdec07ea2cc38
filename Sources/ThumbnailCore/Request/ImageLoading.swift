public import FoundationEssentials

/// Loads the bytes of images in a way that only the program knows, such as from an archive, a database or by its own
/// protocol. See `ImageSource.loaded(by:identity:)`.
///
/// Called once for all requests that share a job, from any thread, and not for cached thumbnails. It must not wait for
/// the pipeline.
public protocol ImageLoading: Sendable {
  /// Whether the images are on this machine. Others are not loaded offline (`CacheMode.offline`), and the loading of a
  /// progressive JPEG ends with the scans that are needed, so that a later truncation goes unnoticed. Default: false.
  var isLocal: Bool { get }
  /// The origin of the images. One helper process may decode all images of a site, and an image that takes over the
  /// helper can read and change the later ones. Default: nil, a process for each image.
  var site: String? { get }

  /// Loads an image, or begins to.
  ///
  /// The calling task is cancelled when no request waits for the image any more. A `ThumbnailError` reaches the waiters
  /// unchanged, any other error as `unreachable`. There are no retries.
  func load(_ request: ImageLoadRequest) async throws -> LoadedImage
}

extension ImageLoading {
  /// Not on this machine.
  public var isLocal: Bool { false }
  /// Each image is a site of its own.
  public var site: String? { nil }
}

/// The image that a program has to load.
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

/// The bytes of an image, in memory or as they arrive.
public struct LoadedImage: Sendable {
  /// The length in bytes, if it is known before the end.
  package let expectedLength: Int?
  /// Calls `body` with the bytes in order, in pieces of any length, until it returns false or the image ends.
  package let receive: @Sendable (_ body: (Data) throws -> Bool) async throws -> Void
  /// The open file that is read in place; nil for other images.
  package let file: (descriptor: FileDescriptor, state: FileState)?

  /// An image in a file that is open for reading and was in this state, and is read in place.
  package init(_ file: FileDescriptor, _ state: FileState) {
    (expectedLength, receive, self.file) = (nil, { _ in }, (file, state))
  }

  /// An image in memory.
  public init(_ data: Data) {
    (expectedLength, file) = (data.count, nil)
    receive = { body in
      let pieceLength = 64 << 10
      for start in stride(from: data.startIndex, to: data.endIndex, by: pieceLength) {
        guard try body(data[start..<min(start + pieceLength, data.endIndex)]) else { return }
      }
    }
  }

  /// An image that arrives in pieces of any length. No more of them are requested once the thumbnails can be made, for
  /// example from the first scans of a progressive JPEG.
  public init<Pieces: AsyncSequence & Sendable>(expectedLength: Int? = nil, pieces: Pieces)
  where Pieces.Element == Data {
    (self.expectedLength, file) = (expectedLength, nil)
    receive = { body in
      for try await piece in pieces {
        guard try body(piece) else { return }
      }
    }
  }
}

/// An image in memory.
struct ImageInMemory: ImageLoading {
  let data: Data

  var isLocal: Bool { true }

  func load(_ request: ImageLoadRequest) -> LoadedImage { LoadedImage(data) }
}
