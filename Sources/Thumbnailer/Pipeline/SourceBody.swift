import JPEGCoefficients
import Foundation
import HTTPSemantics
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// The bytes of a picture that are at hand, and what its header said.
struct SourceBody: Sendable {
  /// The bytes: the whole file when `isComplete`.
  private(set) var bytes: ByteSource
  /// What the header says; nil where that could not be known before the body was complete.
  let header: Result<ImageProbe, CodecError>?
  /// How the bytes came; nil for a local file.
  private(set) var download: Download?
  /// The open file; nil for a download.
  let file: LocalFile?
  /// The finest scale at which a body that was stopped early can be read.
  private let finestScale: JPEGScale?
  /// The file's place among those that may be open. It goes back with the last copy of this value.
  private let place: ByteSemaphore.Reservation?
  /// What the server said with a download, to ask it later whether the picture has changed.
  var answer: StoredResponse?
  /// Until when what the server has sent may be kept, as far as it limits that; see `ResponseMetadata`.
  var statedEnd: Date?
  /// False once the coefficient reader has handed the file over to libvips, and where that reader is not used.
  var mayReadCoefficients: Bool
  /// Whether the preview in its EXIF data may be used; false once it was seen not to be of this picture.
  var mayUsePreview = false
  /// What all downloads have brought that it took to get here, in bytes; for a local file its length.
  var downloadedBytes: Int

  /// A downloaded body, whole or as much of it as its observer wanted.
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
    _ file: LocalFile, place: ByteSemaphore.Reservation, header: Result<ImageProbe, CodecError>,
    mayReadCoefficients: Bool
  ) {
    (self.file, self.place, self.header) = (file, place, header)
    self.mayReadCoefficients = mayReadCoefficients
    (bytes, downloadedBytes) = (file.body, file.body.count)
    (download, finestScale) = (nil, nil)
  }

  /// Whether thumbnails of it may be kept.
  var mayBeStored: Bool {
    guard let answer, let download else { return true }
    return answer.metadata.mayBeStored(status: download.status)
  }

  /// Whether the bytes are all there are.
  var isComplete: Bool { download?.isComplete ?? true }

  /// The bytes that a stopped download has left with the server; 0 where their number is not known.
  var bytesLeft: Int {
    guard let download, !download.isComplete, let expected = download.expectedBytes else { return 0 }
    return max(0, expected - download.body.count)
  }

  /// What is known of a body that did not do, once its bytes are gone.
  struct Spent: Sendable {
    /// See `SourceBody`.
    let downloadedBytes: Int
    /// See `SourceBody`.
    let bytesLeft: Int
  }

  /// Lets go of the bytes, and with the last copy of them of their share of the memory for bodies.
  mutating func giveUp() -> Spent {
    defer { (bytes, download) = (.memory([]), nil) }
    return Spent(downloadedBytes: downloadedBytes, bytesLeft: bytesLeft)
  }

  /// Whether the plan can be carried out with the bytes at hand.
  func isEnough(for plan: DecodePlan) -> Bool {
    if isComplete { return true }
    guard let finestScale, let wanted = plan.coefficientScale else { return false }
    return wanted <= finestScale
  }

  /// Puts the whole file's length in the place of that of a stopped body, as far as the server told it.
  func completing(_ thumbnail: Thumbnail) -> Thumbnail {
    guard !isComplete else { return thumbnail }
    var thumbnail = thumbnail
    thumbnail.source.byteCount = bytes.count + bytesLeft
    return thumbnail
  }
}
