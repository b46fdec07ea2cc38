import ImageCodec
import ThumbnailCore

/// The result of a request.
struct HelperResponse: Equatable, Sendable {
  /// The pixels of one thumbnail. Its profile follows the response, and its samples do or are in `SharedSamples`.
  struct Pixels: Equatable, Sendable {
    /// See `ThumbnailRaster`.
    var size: PixelSize
    /// The raster's own size.
    var rasterSize: PixelSize
    var space: Raster.Space
    var bands: Int
    var timing: AnimationTiming?
    /// Whether metadata of the image is kept.
    var keepsMetadata = false
    /// The length of the kept profile in bytes.
    var profileLength: Int?
    var isDamaged = false
    /// See `Raster.losesChroma`; nil if the helper did not need it.
    var losesChroma: Bool?
    /// Whether the samples are in the shared memory, and do not follow the response.
    var isShared = false
  }

  /// The result for one variant: pixels or an error.
  enum Outcome: Equatable, Sendable {
    case pixels(Pixels)
    case failure(CodecError)
  }

  /// The image's size, upright; nil if nothing could be made.
  var size: PixelSize?
  /// One result for each variant of the request, in its order.
  var outcomes: [Outcome]
  /// Whether only a helper with libvips can decode the image; there are no outcomes then.
  var needsLibvips = false
  /// The row index of a JPEG, if it has more entries than before.
  var index: RowIndex?
  /// See `DecodedImage`.
  var plan = ""
  /// See `DecodedImage`.
  var planBytes = 0
  /// See `DecodedImage`.
  var usesPreview = false
  /// Why there are no outcomes.
  var need: DecodeNeed?
}

extension HelperResponse.Pixels {
  init(_ pixels: ThumbnailRaster) {
    let raster = pixels.raster
    self.init(
      size: pixels.size, rasterSize: raster.size, space: raster.space, bands: raster.bands, timing: pixels.timing,
      keepsMetadata: pixels.kept != nil, profileLength: pixels.kept?.profile?.count,
      isDamaged: pixels.isDamaged, losesChroma: raster.knownLossOfChroma)
  }

  /// The metadata that a policy keeps, with the profile that was sent.
  func kept(_ policy: MetadataPolicy, profile: [UInt8]?) -> KeptMetadata? {
    keepsMetadata ? KeptMetadata(policy, profile: profile) : nil
  }
}

extension HelperResponse: HelperCoded {
  static let blank = HelperResponse(outcomes: [])

  mutating func code(_ message: inout MessageCoder) {
    message.code(&size)
    message.code(&outcomes)
    message.code(&needsLibvips)
    message.code(&index)
    message.code(&plan)
    message.code(&planBytes)
    message.code(&usesPreview)
    message.code(&need)
  }
}

extension HelperResponse.Outcome: HelperCoded {
  static let blank = failure(.empty)

  mutating func code(_ message: inout MessageCoder) {
    var pixels: HelperResponse.Pixels?
    var error = CodecError.empty
    switch self {
    case .pixels(let made): pixels = made
    case .failure(let failure): error = failure
    }
    message.code(&pixels)
    if pixels == nil { message.code(json: &error) }
    self = pixels.map { .pixels($0) } ?? .failure(error)
  }
}

extension DecodeNeed: HelperCoded {
  static let blank = wholeBody

  mutating func code(_ message: inout MessageCoder) {
    var (kind, bytes, error) = (0, 0, CodecError.empty)
    switch self {
    case .wholeBody: break
    case .bodyOfImage: kind = 1
    case .memory(let needed): (kind, bytes) = (2, needed)
    case .refusal(let refusal): (kind, error) = (3, refusal)
    }
    message.code(&kind)
    message.code(&bytes)
    if kind == 3 { message.code(json: &error) }
    let needs: [DecodeNeed] = [.wholeBody, .bodyOfImage, .memory(bytes), .refusal(error)]
    self = message.known(needs.indices.contains(kind) ? needs[kind] : nil) ?? self
  }
}

extension HelperResponse.Pixels: HelperCoded {
  static let blank = Self(size: .blank, rasterSize: .blank, space: .gray, bands: 0)

  mutating func code(_ message: inout MessageCoder) {
    size.code(&message)
    rasterSize.code(&message)
    message.code(&space)
    message.code(&bands)
    message.code(&timing)
    message.code(&keepsMetadata)
    message.code(&profileLength)
    message.code(&isDamaged)
    message.code(&losesChroma)
    message.code(&isShared)
  }
}

extension AnimationTiming: HelperCoded {
  static let blank = AnimationTiming(frameCount: 0, delays: [], loops: 0)

  mutating func code(_ message: inout MessageCoder) {
    var (frameCount, delays, loops) = (frameCount, delays.map { Int($0) }, Int(loops))
    message.code(&frameCount)
    message.code(&delays)
    message.code(&loops)
    self = AnimationTiming(
      frameCount: frameCount, delays: delays.map { Int32(clamping: $0) }, loops: Int32(clamping: loops))
  }
}
