import Foundation
import ImageCodec
package import ThumbnailCore

/// Validates a helper's response, which a compromised decoder may have written.
package struct ResponseRules: Sendable {
  let variants: [Variant]
  /// The image's format as the pipeline has sniffed it.
  let format: ImageFormat
  let byteCount: Int
  let limits: DecodeLimits
  /// The most bytes that all thumbnails may have together: what is reserved for them.
  let mostBytes: Int

  /// The longest side of a page or drawing: nothing is allocated for it, as its size is that on paper.
  private static let longestSide = 1 << 30

  /// An upper bound of the bytes that the thumbnails of these variants can have, with room for incompressible pixels.
  package static func mostBytes(for variants: [Variant]) -> Int {
    variants.reduce(0) { sum, variant in sum + (64 << 10) + variant.size.pixelCount * 5 }
  }

  /// The lengths in bytes of the thumbnails that follow a response.
  func lengths(of response: HelperResponse) throws(HelperFailure) -> [Int] {
    guard response.outcomes.count == variants.count else {
      throw .nonsense(detail: "\(response.outcomes.count) results for \(variants.count)")
    }
    let lengths = response.outcomes.map(\.byteCount)
    guard lengths.allSatisfy({ (0...mostBytes).contains($0) }), lengths.reduce(0, +) <= mostBytes else {
      throw .nonsense(detail: "thumbnails of \(lengths) bytes")
    }
    return lengths
  }

  /// The thumbnails, each validated.
  func check(_ response: HelperResponse, _ bodies: [[UInt8]]) throws(HelperFailure) -> [RenderedVariant] {
    var results: [RenderedVariant] = []
    for (index, variant) in variants.enumerated() {
      let outcome = response.outcomes[index]
      if let failure = outcome.failure {
        if failure == .cancelled { throw .nonsense(detail: "cancelled by itself") }
        results.append(RenderedVariant(variant: variant, result: .failure(failure)))
      } else {
        results.append(
          RenderedVariant(variant: variant, result: .success(try thumbnail(response, index, bodies[index]))))
      }
    }
    return results
  }

  private func thumbnail(_ response: HelperResponse, _ index: Int, _ bytes: [UInt8]) throws(HelperFailure) -> Thumbnail
  {
    let (variant, outcome) = (variants[index], response.outcomes[index])
    guard let size = outcome.size, size.width <= variant.size.width, size.height <= variant.size.height,
      let format = outcome.format, Self.formats(variant.format).contains(format),
      Self.isImage(bytes, of: format, size: size)
    else { throw .nonsense(detail: "a thumbnail that is none") }
    return Thumbnail(
      data: Data(bytes), size: size, format: format,
      source: SourceDescription(size: try sourceSize(response), format: self.format, byteCount: byteCount),
      isDamaged: outcome.isDamaged)
  }

  private static func isImage(_ bytes: [UInt8], of format: ImageFormat, size: PixelSize) -> Bool {
    do throws(CodecError) {
      let found = try probe(.memory(bytes))
      return found.format == format && found.size == size
    } catch {
      // JPEG XL is not parsed in this process: only the format can be verified.
      return format == .jpegXL && error == .unsupportedFormat(format)
    }
  }

  private func sourceSize(_ response: HelperResponse) throws(HelperFailure) -> PixelSize {
    let longest = format.isDrawing ? Self.longestSide : limits.maximumSide
    guard let size = response.size, (1...longest).contains(size.width), (1...longest).contains(size.height),
      format.isDrawing || size.pixelCount <= limits.maximumPixels
    else { throw .nonsense(detail: "a picture beyond the limits") }
    return size
  }

  private static func formats(_ format: OutputFormat) -> [ImageFormat] {
    switch format {
    case .auto: [.jpeg, .webp, .png]
    case .jpeg: [.jpeg]
    case .png: [.png]
    case .webp: [.webp]
    case .avif: [.avif]
    case .jxl: [.jpegXL]
    case .same: [.jpeg, .webp, .png, .jpegXL]
    }
  }
}
