import ImageCodec
import ThumbnailCore

/// The result of a request.
struct HelperResponse: Equatable, Sendable {
  /// The pixels of one thumbnail. Its samples and its profile follow the response.
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
    var fields: [KeptMetadata.Field] = []
    var isDamaged = false
    /// See `Raster.losesChroma`; nil if the helper did not need it.
    var losesChroma: Bool?
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
}

extension HelperResponse.Pixels {
  init(_ pixels: ThumbnailRaster) {
    let raster = pixels.raster
    self.init(
      size: pixels.size, rasterSize: raster.size, space: raster.space, bands: raster.bands, timing: pixels.timing,
      keepsMetadata: pixels.kept != nil, profileLength: pixels.kept?.profile?.count, fields: pixels.kept?.fields ?? [],
      isDamaged: pixels.isDamaged, losesChroma: raster.knownLossOfChroma)
  }

  /// The metadata that a policy keeps, with the profile that was sent.
  func kept(_ policy: MetadataPolicy, profile: [UInt8]?) -> KeptMetadata? {
    keepsMetadata ? KeptMetadata(policy, profile: profile, fields: fields) : nil
  }
}

extension HelperResponse: HelperCoded {
  func write(to message: inout MessageWriter) {
    message.add(size)
    message.add(outcomes)
    message.add(needsLibvips)
    message.add(index)
  }

  init(from message: inout MessageReader) throws(HelperFailure) {
    self.init(
      size: try message.optional(), outcomes: try message.list(), needsLibvips: try message.flag(),
      index: try message.optional())
  }
}

extension HelperResponse.Outcome: HelperCoded {
  func write(to message: inout MessageWriter) {
    switch self {
    case .pixels(let pixels):
      message.add(true)
      pixels.write(to: &message)
    case .failure(let error):
      message.add(false)
      message.add(json: error)
    }
  }

  init(from message: inout MessageReader) throws(HelperFailure) {
    self = try message.flag() ? .pixels(try HelperResponse.Pixels(from: &message)) : .failure(try message.json())
  }
}

extension HelperResponse.Pixels: HelperCoded {
  func write(to message: inout MessageWriter) {
    size.write(to: &message)
    rasterSize.write(to: &message)
    message.add(space.rawValue)
    message.add(bands)
    message.add(timing)
    message.add(keepsMetadata)
    message.add(profileLength)
    message.add(fields)
    message.add(isDamaged)
    message.add(losesChroma)
  }

  init(from message: inout MessageReader) throws(HelperFailure) {
    self.init(
      size: try PixelSize(from: &message), rasterSize: try PixelSize(from: &message), space: try message.named(),
      bands: try message.number(), timing: try message.optional(), keepsMetadata: try message.flag(),
      profileLength: try message.optional(), fields: try message.list(), isDamaged: try message.flag(),
      losesChroma: try message.optional())
  }
}

extension AnimationTiming: HelperCoded {
  func write(to message: inout MessageWriter) {
    message.add(frameCount)
    message.add(delays.map { Int($0) })
    message.add(Int(loops))
  }

  init(from message: inout MessageReader) throws(HelperFailure) {
    self.init(
      frameCount: try message.number(), delays: try message.list(of: Int.self).map { Int32(clamping: $0) },
      loops: Int32(clamping: try message.number()))
  }
}

extension KeptMetadata.Field: HelperCoded {
  func write(to message: inout MessageWriter) {
    message.add(name)
    message.add(value)
  }

  init(from message: inout MessageReader) throws(HelperFailure) {
    self.init(name: try message.text(), value: try message.text())
  }
}
