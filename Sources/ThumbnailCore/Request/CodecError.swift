/// Why an image could not be read, downsampled or encoded.
///
/// The stage that failed decides the case. A `detail` is the decoder's error text, which decides nothing: all threads
/// share libvips' error buffer, so it may describe another image.
package enum CodecError: Error, Sendable, Equatable, Codable, CustomStringConvertible {
  /// The decode was cancelled.
  case cancelled
  /// The body has no bytes.
  case empty
  /// The bytes are not an image: "an HTML page", "a ZIP archive".
  case notAPicture(looksLike: String)
  /// An image format that is not read in this process.
  case unsupportedFormat(ImageFormat)
  /// A feature of the format that no reader here supports: "a palette of 16 bits".
  case unsupported(String)
  /// A RAW file of this format without a readable preview. The sensor's samples are never developed.
  case noPreview(in: String)
  /// The header states more than the limits allow.
  case limitExceeded(Limit, value: Int, maximum: Int)
  /// The file ends before the image does.
  case truncated(detail: String)
  /// The bytes contradict the format.
  case damaged(Stage, detail: String)
  /// One of our readers leaves the file to another reader: "arithmetic coding". Always followed by another attempt.
  case handedOver(reason: String)
  /// A thumbnail cannot have this size.
  case invalidSize(PixelSize)
  /// A stranger may not request a thumbnail of more than `mostPixels`, or one that is larger than the image.
  case notForStrangers(mostPixels: Int)
  /// The image, of this size, does not have all of the part that was to be cropped from it.
  case cropOutside(of: PixelSize)
  /// All of a large image would have to be decoded for a part of it.
  case needsAllPixels
  /// This build of libvips cannot read the format.
  case decoderUnavailable(ImageFormat)
  /// This build of libvips cannot write the format.
  case encoderUnavailable(ImageFormat)
  /// The cheapest plan for the image takes more bytes than the whole budget.
  case exceedsMemoryBudget(needed: Int, budget: Int)
  /// The system had no memory while the image was decoded. A later attempt may succeed.
  case outOfMemory
  /// Reading the body's file failed.
  case unreadableBody(detail: String)
  /// The helper process returned no valid response.
  case helperFailed(HelperFailure)
  /// No processor of this name is known here.
  case processorUnavailable(String)
  /// The program's own processor has thrown an error.
  case processorFailed(detail: String)
  /// Only libvips can read the image, and it may not be started in this process. Always followed by another attempt.
  case needsLibvips
  /// libvips did not start.
  case libraryUnavailable(detail: String)

  /// Which limit was exceeded.
  package enum Limit: Sendable, Equatable, Codable {
    /// The number of pixels of an image of this size.
    case pixels(PixelSize)
    /// The longer side of an image of this size.
    case side(PixelSize)
    /// The number of frames or pages.
    case frames
    /// The length of the file in bytes.
    case bytes
    /// The number of scans of a progressive JPEG.
    case scans
  }

  /// The stage that failed.
  package enum Stage: String, Sendable, Equatable, Codable {
    case header, decode, shrink, encode
  }

  /// The names of a video and of gzip data, which may be a compressed SVG, in `notAPicture`.
  package static let video = "a video"
  package static let gzip = "gzip data"

  /// The format to try in a helper after the pipeline's own parser has refused the bytes with this error; nil if that is
  /// final.
  ///
  /// An SVG may be compressed with gzip, which only shows when it is decompressed: the helper finds out.
  package var helperFormat: ImageFormat? {
    switch self {
    case .unsupportedFormat(let format): format
    case .notAPicture(Self.gzip): .svg
    default: nil
    }
  }

  /// Whether the image is at fault, so that a part of it may still be readable.
  package var isDamage: Bool {
    switch self {
    case .truncated, .damaged: true
    default: false
    }
  }

  /// The error in one line, with its numbers.
  package var description: String {
    switch self {
    case .cancelled: "cancelled"
    case .empty: "the file is empty"
    case .notAPicture(let looksLike): "not a picture: it looks like \(looksLike)"
    case .unsupportedFormat(let format): "\(format.displayName) is not read in this process"
    case .unsupported(let what): "\(what) is not supported"
    case .noPreview(let format): "the RAW file (\(format)) holds no preview that can be read"
    case .limitExceeded(let limit, let value, let maximum): Self.describe(limit, value: value, maximum: maximum)
    case .truncated(let detail): "the file ends before the picture does" + Self.suffix(detail)
    case .damaged(let stage, let detail): "damaged picture (\(stage.rawValue))" + Self.suffix(detail)
    case .handedOver(let reason): "not for the coefficient reader: \(reason)"
    case .invalidSize(let size):
      "\(size) is not a thumbnail's size: each side must be 1 to \(PixelSize.longestThumbnailSide) pixels"
    case .notForStrangers(let most): "the thumbnail has more than \(most) pixels, or more than the picture"
    case .cropOutside(let size): "the picture is \(size), and the part to crop is not within it; choose another part"
    case .needsAllPixels: "all of this picture would have to be decoded for a part of it"
    case .decoderUnavailable(let format): "this libvips cannot read \(format.displayName)"
    case .encoderUnavailable(let format): "this libvips cannot write \(format.displayName)"
    case .exceedsMemoryBudget(let needed, let budget):
      "decoding takes \(ByteSize(bytes: needed)), more than the \(ByteSize(bytes: budget)) that a picture may take"
    case .outOfMemory: "there was not enough memory to decode the picture"
    case .unreadableBody(let detail): "the downloaded file cannot be read" + Self.suffix(detail)
    case .helperFailed(let failure): "\(failure)"
    case .processorUnavailable(let name): "no processor is called \(name)"
    case .processorFailed(let detail): "the processor failed" + Self.suffix(detail)
    case .needsLibvips: "only libvips can read it"
    case .libraryUnavailable(let detail): "libvips does not start" + Self.suffix(detail)
    }
  }

  private static func suffix(_ detail: String) -> String { detail.isEmpty ? "" : ": \(detail)" }

  private static func describe(_ limit: Limit, value: Int, maximum: Int) -> String {
    switch limit {
    case .pixels(let size): "the picture claims \(size) = \(value) pixels, more than the limit of \(maximum)"
    case .side(let size): "the picture claims \(size), a side longer than the limit of \(maximum) pixels"
    case .frames: "the picture has at least \(value) frames, more than the limit of \(maximum)"
    case .scans: "the picture has at least \(value) scans, more than the limit of \(maximum)"
    case .bytes: "the file has at least \(value) bytes, more than the limit of \(maximum)"
    }
  }
}
