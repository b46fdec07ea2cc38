import JPEGCoefficients
import Foundation
import HTTPSemantics
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// The fetched bytes of an image, and the result of parsing its header.
struct SourceBody: Sendable {
  /// The bytes: the whole file if `isComplete`.
  private(set) var bytes: ByteSource
  /// The result of parsing the header; nil if that needed the complete body.
  let header: Result<ImageProbe, CodecError>?
  /// The download; nil for a local file.
  private(set) var download: Download?
  /// The open file; nil for a download.
  let file: LocalFile?
  /// The finest scale at which a body that was stopped early can be decoded.
  private let finestScale: JPEGScale?
  /// The file's permit to be open. Released with the last copy of this value.
  private let place: WeightedSemaphore.Reservation?
  /// The response's metadata, with the validator for a later conditional request.
  var response: StoredResponse?
  /// When the response stops being cacheable, if the server limits that; see `ResponseMetadata`.
  var statedEnd: Date?
  /// False if the coefficient reader has handed the file over to libvips, or is not used.
  var mayReadCoefficients: Bool
  /// Whether the preview in its EXIF data may be used; false once it was found not to match.
  var mayUsePreview = false
  /// The bytes received by all downloads for this body; for a local file its length.
  var downloadedBytes: Int

  /// A downloaded body, complete or stopped early by its observer.
  init(_ download: Download, header: HeaderObserver.Outcome, finestScale: JPEGScale?, mayReadCoefficients: Bool) {
    (self.download, self.finestScale) = (download, finestScale)
    self.mayReadCoefficients = mayReadCoefficients
    switch header {
    case .pending: self.header = nil
    case .probed(let probe): self.header = .success(probe)
    case .foreign(let format): self.header = .failure(.unsupportedFormat(format))
    case .refused(let error): self.header = .failure(error)
    }
    (bytes, downloadedBytes) = (download.body, download.receivedBytes)
    (file, place) = (nil, nil)
  }

  /// A local file.
  init(
    _ file: LocalFile, place: WeightedSemaphore.Reservation, header: Result<ImageProbe, CodecError>,
    mayReadCoefficients: Bool
  ) {
    (self.file, self.place, self.header) = (file, place, header)
    self.mayReadCoefficients = mayReadCoefficients
    (bytes, downloadedBytes) = (file.body, file.body.count)
    (download, finestScale) = (nil, nil)
  }

  /// Whether thumbnails of it may be kept.
  var mayBeStored: Bool {
    guard let response, let download else { return true }
    return response.metadata.mayBeStored(status: download.status)
  }

  /// Whether the bytes are the whole file.
  var isComplete: Bool { download?.isComplete ?? true }

  /// The bytes that a stopped download has not fetched; 0 if their number is unknown.
  var bytesLeft: Int {
    guard let download, !download.isComplete, let expected = download.expectedBytes else { return 0 }
    return max(0, expected - download.body.count)
  }

  /// The statistics of an insufficient body after its bytes were released.
  struct Spent: Sendable {
    /// See `SourceBody`.
    let downloadedBytes: Int
    /// See `SourceBody`.
    let bytesLeft: Int
  }

  /// Releases the bytes and, with their last copy, their share of the memory for bodies.
  mutating func giveUp() -> Spent {
    defer { (bytes, download) = (.memory([]), nil) }
    return Spent(downloadedBytes: downloadedBytes, bytesLeft: bytesLeft)
  }

  /// Whether the bytes suffice for the plan.
  func isEnough(for plan: DecodePlan) -> Bool {
    if isComplete { return true }
    guard let finestScale, let wanted = plan.coefficientScale else { return false }
    return wanted <= finestScale
  }

  /// Sets the source length of a thumbnail from a stopped body to the whole file's, if the server stated it.
  func completing(_ thumbnail: Thumbnail) -> Thumbnail {
    guard !isComplete else { return thumbnail }
    var thumbnail = thumbnail
    thumbnail.source.byteCount = bytes.count + bytesLeft
    return thumbnail
  }
}
