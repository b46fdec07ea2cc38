import CJPEG
import FoundationEssentials
import ThumbnailCore

/// Encodes a raster as a JPEG: with `BaselineEncoder` where chroma is halved, otherwise with libjpeg-turbo.
struct JPEGEncoder {
  /// 1 to 100.
  var quality: Int
  /// The requested effort, 0 to 9; nil for the default. `BaselineEncoder` always makes the best of its codes.
  var effort: Int?
  /// The ICC profile to embed.
  var profile: [UInt8]?

  /// The quality from which chroma is never halved, as in libvips.
  private static let fullChromaQuality = 90

  /// The most pixels that `BaselineEncoder` encodes: libjpeg-turbo keeps none of them.
  static let mostBaselinePixels = 4_194_304
  /// The longest side of a JPEG, for libjpeg-turbo.
  private static let longestSide = 65_500

  /// The effort, 0 to 9, up to which libjpeg-turbo uses the standard's Huffman codes.
  private static let defaultEffort = 4

  /// Whether Huffman codes are optimised: this takes as long as the rest of the encoding, for 5 % of the bytes.
  static func optimises(_ effort: Int?) -> Bool { (effort ?? 0) > defaultEffort }

  /// How much coarser the quantisers are with full chroma, for about the same bytes.
  private static let fullChromaFactor = 1.53
  /// The lowest quality chosen for full chroma: below it, blocks become visible on plain backgrounds.
  private static let leastFullChromaQuality = 65

  /// The quality in libjpeg's terms, and whether chroma is halved.
  private func coding(of raster: Raster) -> (quality: Int, halvesChroma: Bool) {
    let quality = min(max(quality, 1), 100)
    // Readers do not agree on how to interpolate a few samples of chroma.
    let isTiny = raster.bands == 3 && min(raster.size.width, raster.size.height) < 8
    if quality >= Self.fullChromaQuality || isTiny { return (quality, false) }
    guard raster.losesChroma else { return (quality, true) }
    // libjpeg's percentage by which the standard's quantisers are multiplied.
    let scale = (quality < 50 ? 5000 / Double(quality) : Double(200 - 2 * quality)) * Self.fullChromaFactor
    let equal = scale <= 100 ? (200 - scale) / 2 : 5000 / scale
    return (min(quality, max(Self.leastFullChromaQuality, Int(equal.rounded()))), false)
  }

  /// Encodes gray, RGB, or luma and chroma as they are.
  ///
  /// - Throws: `.damaged(.encode, …)`, `.outOfMemory`.
  func encode(_ raster: Raster) throws(CodecError) -> Data {
    let (quality, halvesChroma) = coding(of: raster)
    if halvesChroma, raster.size.pixelCount <= Self.mostBaselinePixels, raster.size.longerSide <= Self.longestSide {
      let samples: BaselineEncoder.Samples = raster.bands == 1 ? .gray : raster.space == .ycc ? .ycc : .rgb
      return raster.withSamples {
        BaselineEncoder.encode(
          $0, raster.size, samples, quality: quality, header: JPEGFileHeader(profile: profile))
      }
    }
    return try raster.withBytes { pixels throws(CodecError) in
      var picture = cjpeg_picture()
      picture.pixels = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
      (picture.width, picture.height) = (Int32(raster.size.width), Int32(raster.size.height))
      picture.channels = Int32(raster.bands)
      picture.is_ycc = raster.space == .ycc ? 1 : 0
      picture.quality = Int32(quality)
      picture.halves_chroma = halvesChroma ? 1 : 0
      picture.optimises = Self.optimises(effort) ? 1 : 0
      var bytes: UnsafeMutablePointer<UInt8>?
      var length: UInt = 0
      var message = [CChar](repeating: 0, count: Int(JMSG_LENGTH_MAX))
      let result = (profile ?? []).withUnsafeBufferPointer { profile in
        picture.profile = profile.isEmpty ? nil : profile.baseAddress
        picture.profile_length = UInt32(profile.count)
        return cjpeg_encode(&picture, &bytes, &length, &message)
      }
      defer { free(bytes) }
      if result == -2 { throw .outOfMemory }
      guard result == 0, let bytes else {
        throw .damaged(
          .encode, detail: String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
      }
      // A copy of the exact length: libjpeg's buffer may be twice as long, and the cache counts the bytes that it
      // holds.
      return Data(bytes: bytes, count: Int(length))
    }
  }
}
