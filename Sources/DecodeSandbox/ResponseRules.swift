import Foundation
package import ImageCodec
package import ThumbnailCore

/// Validates a helper's response, which a compromised decoder may have written.
package struct ResponseRules: Sendable {
  let variants: [Variant]
  /// The image's format as the pipeline has sniffed it.
  let format: ImageFormat
  /// The image's size, if the pipeline knows it.
  let size: PixelSize?
  let limits: DecodeLimits
  /// The most bytes that all samples may have together: what is reserved for them.
  let mostBytes: Int

  /// The longest side of a page or drawing: nothing is allocated for it, as its size is that on paper.
  private static let longestSide = 1 << 30

  /// An upper bound of the bytes of the thumbnails of these variants: their samples, and the files made of them.
  package static func mostBytes(for variants: [Variant], of probe: ImageProbe? = nil) -> Int {
    variants.reduce(0) { sum, variant in
      let frames = probe.map { variant.mostFrames(of: $0) } ?? 1
      let (bytes, overflow) = variant.size.pixelCount.multipliedReportingOverflow(by: 5 * frames)
      return overflow ? .max / 8 : min(.max / 8, sum + (64 << 10) + bytes)
    }
  }

  /// Checks all that a response says, before anything that follows it is received.
  func check(_ response: HelperResponse) throws(HelperFailure) {
    guard response.outcomes.count == variants.count else {
      throw .nonsense(detail: "\(response.outcomes.count) results for \(variants.count)")
    }
    var bytes = 0
    for (variant, outcome) in zip(variants, response.outcomes) {
      switch outcome {
      case .failure(.cancelled): throw .nonsense(detail: "cancelled by itself")
      case .failure: continue
      case .pixels(let pixels):
        bytes += try byteCount(of: pixels, for: variant)
        if bytes > mostBytes { throw .nonsense(detail: "thumbnails of more than \(mostBytes) bytes") }
      }
    }
  }

  /// The number of bytes of a thumbnail's samples.
  private func byteCount(of pixels: HelperResponse.Pixels, for variant: Variant) throws(HelperFailure) -> Int {
    let (size, raster) = (pixels.size, pixels.rasterSize)
    let bands =
      switch pixels.space {
      case .gray: 1...2
      case .rgb: 3...4
      case .ycc: 3...3
      // Never a thumbnail's.
      case .cmyk: 0...0
      }
    guard bands.contains(pixels.bands), (1...variant.size.width).contains(size.width),
      (1...variant.size.height).contains(size.height), (1...size.width).contains(raster.width), raster.height >= 1,
      raster.height <= mostBytes / (raster.width * pixels.bands),
      pixels.timing.map({ isValid($0, pixels, variant) }) ?? (raster.height <= size.height)
    else { throw .nonsense(detail: "a thumbnail that is none") }
    guard (0...KeptMetadata.longestProfile).contains(pixels.profileLength ?? 0) else {
      throw .nonsense(detail: "a profile of \(pixels.profileLength ?? 0) bytes")
    }
    return raster.pixelCount * pixels.bands
  }

  /// Whether the frames are what was asked for, and of the thumbnail's size.
  private func isValid(_ timing: AnimationTiming, _ pixels: HelperResponse.Pixels, _ variant: Variant) -> Bool {
    let (raster, frames) = (pixels.rasterSize, timing.frameCount)
    return variant.frames == .all && pixels.bands == 4 && frames >= 1 && raster.width == pixels.size.width
      && raster.height % frames == 0 && raster.height / frames == pixels.size.height && timing.delays.count <= frames
  }

  /// The image's size, as the response says.
  func sourceSize(_ response: HelperResponse) throws(HelperFailure) -> PixelSize {
    let longest = format.isDrawing ? Self.longestSide : limits.maximumSide
    guard let size = response.size, (1...longest).contains(size.width), (1...longest).contains(size.height),
      format.isDrawing || size.pixelCount <= limits.maximumPixels
    else { throw .nonsense(detail: "a picture beyond the limits") }
    guard self.size == nil || self.size == size else { throw .nonsense(detail: "a picture of another size") }
    return size
  }
}
