import Foundation
import HTTPTransport
import ImageCodec
import JPEGCoefficients
import ThumbnailCache
import ThumbnailCore

/// The bytes of an image, and the result of parsing its header. Those of a local file are there when it is opened.
struct SourceBody: Sendable {
  /// The bytes: the whole file if `isComplete`.
  private(set) var bytes: ByteSource
  /// The result of parsing the header; nil if it is not parsed yet.
  @Boxed private var header: Result<ImageProbe, CodecError>?
  /// Returned when its last reference is dropped: a share of the memory for bodies, or the permit for an open file.
  private var held: (any Sendable)?
  /// Whether the bytes are the whole file.
  var isComplete = true
  /// The existing bytes, if only parts of the file were loaded; the others read as zeros.
  @Boxed private(set) var parts: RangeSet<Int>? = nil
  /// The bytes that a download has not fetched; 0 if their number is unknown.
  var bytesLeft = 0
  /// How many of those have others in their place.
  var skippedBytes = 0 { didSet { bytesLeft += skippedBytes } }
  /// The bytes received by all downloads for this body; for a local file its length.
  var downloadedBytes: Int
  /// The finest scale at which a body that was stopped early can be decoded.
  var finestScale: JPEGScale?
  /// The response's metadata, with the validator for a later conditional request. Nil if no request was sent.
  @Boxed var response: StoredResponse? = nil
  /// When the response stops being cacheable, if the server limits that; see `ResponseMetadata`.
  @Boxed var statedEnd: Date? = nil
  /// Whether thumbnails of it may be kept.
  var mayBeStored = true
  /// The local file that is read in place; nil for other bodies, and before it is opened.
  @Boxed private var file: LocalFile? = nil
  /// Opens the local file; nil for other bodies, and when it is open.
  private var opening: Opening?
  /// Whether a helper may read it if its format is not read in process.
  var admitsUnsafe = false
  /// The host that has sent it, if it is not the host of the URL: after a redirect, or for another of its URLs.
  var sender: String?
  /// The preview that may be used.
  var previews = PreviewUse.off

  /// A complete body. `held` is kept as long as the bytes are.
  init(_ bytes: ByteSource, header: Result<ImageProbe, CodecError>?, holding held: (any Sendable)? = nil) {
    (self.bytes, self.header, self.held) = (bytes, header, held)
    downloadedBytes = bytes.count
  }

  /// Opens a file.
  typealias Opening = @Sendable () -> Result<LocalFile, DownloadError>

  /// A local file that is opened when its header is read. `held` is kept as long as it is open.
  init(holding held: any Sendable, _ opening: @escaping Opening) {
    self.init(.memory([]), header: nil, holding: held)
    self.opening = opening
  }

  /// As much of a body as its observer let come.
  init(
    _ bytes: ByteSource, seenBy observer: HeaderObserver, isComplete: Bool, expectedLength: Int?,
    holding held: any Sendable
  ) {
    self.init(bytes, header: observer.header, holding: held)
    (self.isComplete, admitsUnsafe, finestScale) = (isComplete, observer.admitsUnsafe, observer.finestScale)
    bytesLeft = isComplete ? 0 : max(0, (expectedLength ?? 0) - bytes.count)
  }

  /// A body of some parts of a file.
  init(_ parts: PartsFile, header: Result<ImageProbe, CodecError>?, holding held: (any Sendable)?) {
    self.init(parts.body, header: header, holding: held)
    isComplete = parts.known.byteCount == parts.length
    self.parts = isComplete ? nil : parts.known
    bytesLeft = parts.length - parts.known.byteCount
  }

  /// Whether its bytes can be read. A local file is opened by `open`.
  var isOpen: Bool { opening == nil }
  /// Whether it is a file that is read in place.
  var isLocalFile: Bool { file != nil }

  /// Opens a local file, unless it is open. Blocks; call it on a worker.
  mutating func open() throws(ThumbnailError) {
    guard let opening else { return }
    do throws(DownloadError) {
      let file = try opening().get()
      (self.file, bytes, downloadedBytes) = (file, file.body, file.body.count)
      self.opening = nil
    } catch {
      throw ThumbnailError(error)
    }
  }

  /// The result of parsing the header. Blocks if it is not parsed yet. A local file must be open.
  mutating func readHeader(limits: DecodeLimits) -> Result<ImageProbe, CodecError> {
    precondition(opening == nil, "the header of a file is read after the file is opened")
    let header = header ?? Result { () throws(CodecError) in try ImageCodec.probe(bytes, limits: limits) }
    self.header = header
    return header
  }

  /// The length of the file in bytes, as far as it is known.
  private var fileLength: Int { isComplete || parts != nil ? bytes.count : bytes.count + bytesLeft - skippedBytes }

  /// What exists of the file; nil if that is all of it.
  var part: DecodeTerms.Part? {
    if isComplete { return nil }
    return DecodeTerms.Part(
      known: parts ?? RangeSet([0..<bytes.count]), finestScale: finestScale, hasGaps: parts != nil)
  }

  /// The statistics of an insufficient body after its bytes were released.
  struct Spent: Sendable {
    /// See `SourceBody`.
    let downloadedBytes: Int
    /// See `SourceBody`.
    let bytesLeft: Int
  }

  /// Releases the bytes and, with their last copy, the memory and permits for them.
  mutating func release() -> Spent {
    (bytes, file, opening, held) = (.memory([]), nil, nil, nil)
    return Spent(downloadedBytes: downloadedBytes, bytesLeft: bytesLeft)
  }

  /// Fails if the bytes were modified while they were read.
  func checkUnchanged() throws(ThumbnailError) {
    if file?.hasChanged == true { throw ThumbnailError(.fileUnreadable(reason: "it changed while it was read")) }
  }

  /// Sets the source length of a thumbnail from a stopped body to the whole file's, if the server has stated it.
  func completing(_ thumbnail: Thumbnail) -> Thumbnail {
    var thumbnail = thumbnail
    thumbnail.source.byteCount = fileLength
    return thumbnail
  }
}

/// Loads the bytes of an image: over HTTP or from a file. `PipelineStages.loader(of:)` chooses a loader once for each
/// job, so that nothing else distinguishes the kinds of sources.
protocol BodyLoader: Sendable {
  /// Loads as many of an image's bytes as its thumbnails need, and parses its header if it arrives with them.
  ///
  /// The body also states what depends on its source: whether a helper may read unsafe formats in it, and whether it
  /// was changed while it was read.
  ///
  /// - Parameters:
  ///   - job: Its demand names the requested thumbnails; its progress is kept up to date.
  ///   - isWhole: Whether all bytes are needed, whatever the demand.
  ///   - spent: The cost of an earlier, insufficient body, which has been released: memory must not be held
  ///     while waiting for a slot. The preview is then only used again with more to compare
  ///     it with.
  func load(for job: JobContext, isWhole: Bool, insteadOf spent: SourceBody.Spent?) async throws(FetchFailure)
    -> SourceBody
}

/// Why an image could not be loaded, and how long its server allows this to be cached.
struct FetchFailure: Error, Sendable {
  /// The error.
  let error: ThumbnailError
  /// When the response stops being cacheable, if its server limits that; nil if it does not.
  @Boxed var end: Date? = nil

  init(_ error: ThumbnailError, end: Date? = nil) {
    self.error = error
    self.end = end
  }
}
