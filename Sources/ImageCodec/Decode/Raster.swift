import CVips
import JPEGCoefficients
package import ThumbnailCore

/// The pixels of a small image in memory, 8 bits a sample, with or without alpha, not premultiplied.
///
/// It does not depend on its source, so the decoder can be freed. Rows from the top down, without padding, samples
/// interleaved.
package final class Raster {
  /// The meaning of the samples.
  package enum Space: String, Sendable {
    /// 1 band, or 2 with alpha.
    case gray
    /// 3 bands, or 4 with alpha.
    case rgb
    /// JFIF's luma and chroma: 3 bands.
    case ycc
    /// 4 bands.
    case cmyk
  }

  package let size: PixelSize
  package let space: Space
  /// 1 gray, 2 gray and alpha, 3 RGB or YCC, 4 RGB and alpha or CMYK.
  package let bands: Int
  /// The ICC profile of the samples, unless they are sRGB or gray.
  let profile: [UInt8]?
  private let pixels: PixelMemory

  /// Takes finished pixels.
  init(taking pixels: PixelMemory, space: Space, profile: [UInt8]? = nil) {
    (size, bands, self.space, self.profile) = (pixels.size, pixels.bands, space, profile)
    self.pixels = pixels
  }

  /// The same pixels in another colour space, without a conversion.
  init(_ raster: Raster, space: Space) {
    (size, bands, self.space, profile, pixels) = (raster.size, raster.bands, space, raster.profile, raster.pixels)
  }

  /// Computes the pixels of an image with 8-bit samples and 1 to 4 bands, on the calling thread.
  ///
  /// - Throws: `.damaged(.decode, …)` when the decoder or a later operation fails.
  convenience init(computing image: LibvipsImage) throws(CodecError) {
    let (size, bands) = (image.size, image.bands)
    let source = try LibvipsRowSource(image)
    let pixels = try PixelMemory(size, bands: bands)
    guard source.layout.sample == .uint8, source.layout.planes[0].channels == bands else {
      throw .damaged(.decode, detail: "samples that are not of 8 bits")
    }
    var row = 0
    while try source.read({ band in
      for index in 0..<min(band.count, size.height - row) {
        (pixels.start + (row + index) * size.width * bands).update(
          from: (band.start + index * band.stride).assumingMemoryBound(to: UInt8.self), count: size.width * bands)
      }
      row += band.count
    }) {}
    self.init(taking: pixels, space: bands < 3 ? .gray : .rgb)
  }

  /// Makes a raster whose samples `fill` writes: all `size.width * size.height * bands` bytes, which are uninitialised.
  /// They are gray or RGB if no other space is given. `losesChroma` is the known loss of chroma. The memory may be a
  /// spare block.
  ///
  /// - Throws: the errors of `fill`; `.damaged(.shrink, …)` for an invalid size, `.outOfMemory`.
  package convenience init(
    size: PixelSize, bands: Int, space: Space? = nil, profile: [UInt8]? = nil, losesChroma: Bool? = nil,
    from spare: SparePixelMemory? = nil,
    filling fill: (UnsafeMutableRawBufferPointer) throws(CodecError) -> Void
  ) throws(CodecError) {
    let pixels = try PixelMemory(size, bands: bands, from: spare)
    try fill(UnsafeMutableRawBufferPointer(start: pixels.start, count: pixels.byteCount))
    self.init(taking: pixels, space: space ?? (bands < 3 ? .gray : .rgb), profile: profile)
    knownLossOfChroma = losesChroma
  }

  /// Decodes a JPEG's coefficients: the image as stored, not upright, gray or RGB, with the file's ICC profile. Blocks;
  /// checks for cancellation once per row of blocks.
  ///
  /// - Throws: `.handedOver` if the file differs from its header and libvips may succeed. Damage is an error, although
  ///   libjpeg would accept some of it and fill in grey.
  convenience init(_ decoder: CoefficientDecoder) throws(CodecError) {
    let image = try decoder.decode()
    try self.init(
      size: image.size, bands: image.bands, profile: image.profile
    ) { target in image.compose(into: target) }
  }

  /// Whether halved chroma would lose saturated edges; nil until it is computed.
  package private(set) var knownLossOfChroma: Bool?

  /// Whether halved chroma would lose saturated edges, computed once. See `ChromaLoss`.
  var losesChroma: Bool {
    if let knownLossOfChroma { return knownLossOfChroma }
    let loses = ChromaLoss.levels(self) > ChromaLoss.most
    knownLossOfChroma = loses
    return loses
  }

  var hasAlpha: Bool { space != .cmyk && (bands == 2 || bands == 4) }

  /// Whether every pixel is fully opaque.
  var isOpaque: Bool {
    guard hasAlpha else { return true }
    return stride(from: bands - 1, to: pixels.byteCount, by: bands).allSatisfy { pixels.start[$0] == 255 }
  }

  /// Passes the samples to `body`; they are valid during the call.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: pixels.start, count: pixels.byteCount))
  }

  /// The same without errors.
  func withSamples<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    defer { withExtendedLifetime(self) {} }
    return body(UnsafePointer(pixels.start))
  }

  /// A raster of the same size, each of its pixels computed from one of these.
  func mapped(
    to bands: Int, keepingProfile: Bool = true,
    _ pixel: (UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>) -> Void
  ) throws(CodecError) -> Raster {
    let result = try PixelMemory(size, bands: bands)
    for index in 0..<size.pixelCount {
      pixel(UnsafePointer(pixels.start + index * self.bands), result.start + index * bands)
    }
    return Raster(taking: result, space: bands < 3 ? .gray : .rgb, profile: keepingProfile ? profile : nil)
  }

  /// The pixels as a libvips image, with the profile embedded or without; luma and chroma must have become RGB. The
  /// raster must outlive all images made from it.
  package func image(withProfile: Bool = true) throws(CodecError) -> LibvipsImage {
    try Codec.start()
    let interpretation =
      switch space {
      case .gray: VIPS_INTERPRETATION_B_W
      case .cmyk: VIPS_INTERPRETATION_CMYK
      case .rgb, .ycc: VIPS_INTERPRETATION_sRGB
      }
    let image = cvips_image_of_memory(
      pixels.start, pixels.byteCount, Int32(size.width), Int32(size.height), Int32(bands), VIPS_FORMAT_UCHAR,
      interpretation)
    guard let image else { throw .damaged(.shrink, detail: Codec.errorText()) }
    if withProfile, let profile { vips_image_set_blob_copy(image, VIPS_META_ICC_NAME, profile, profile.count) }
    return LibvipsImage(owning: image)
  }
}
