import Glibc
import ImageCodec
import ThumbnailCore

/// The rules that a helper's response must follow, which a compromised decoder may have written.
extension HelperRequest {
  /// The longest side of a page or drawing: nothing is allocated for it, because it is the size on paper.
  private static let longestSide = 1 << 30

  /// The longest description of a plan, in bytes.
  private static let longestPlan = 16 << 10

  /// An upper bound of the bytes of a thumbnail's pixel: its samples, and its part of the file made of them.
  package static let bytesPerPixel = 5

  /// An upper bound of the bytes of the thumbnails of these variants: their samples, and the files made of them.
  static func mostBytes(for variants: [Variant], of probe: ImageProbe?) -> Int {
    variants.reduce(0) { sum, variant in
      let frames = probe.map { variant.mostFrames(of: $0) } ?? 1
      let (bytes, overflow) = variant.size.pixelCount.multipliedReportingOverflow(
        by: bytesPerPixel * frames)
      return overflow ? .max / 8 : min(.max / 8, sum + (64 << 10) + bytes)
    }
  }

  /// Checks the whole response before the bytes after it are received. Returns the image's size; nil if nothing was
  /// made.
  func check(_ response: HelperResponse) throws(HelperFailure) -> PixelSize? {
    guard response.index.map({ index != nil && $0.bytes.count <= RowIndex.longest }) ?? true else {
      throw .nonsense(detail: "an index that is none")
    }
    guard response.plan.utf8.count <= Self.longestPlan,
      response.plan.unicodeScalars.allSatisfy({ (" "..."~").contains($0) || $0 == "→" }),
      (0...terms.memory).contains(response.planBytes), !response.usesPreview || terms.previews != .off
    else { throw .nonsense(detail: "a plan that is none") }
    if let need = response.need {
      guard response.outcomes.isEmpty, isPlausible(need) else { throw .nonsense(detail: "\(need)") }
      return nil
    }
    guard response.outcomes.count == variants.count else {
      throw .nonsense(detail: "\(response.outcomes.count) results for \(variants.count)")
    }
    var (bytes, source) = (0, PixelSize?.none)
    for (variant, outcome) in zip(variants, response.outcomes) {
      switch outcome {
      case .failure(.cancelled): throw .nonsense(detail: "cancelled by itself")
      case .failure: continue
      case .pixels(let pixels):
        let size = if let source { source } else { try sourceSize(response) }
        source = size
        bytes += try byteCount(of: pixels, for: variant, of: size)
        if bytes > mostBytes { throw .nonsense(detail: "thumbnails of more than \(mostBytes) bytes") }
      }
    }
    return source
  }

  /// Whether what is needed was not granted already.
  private func isPlausible(_ need: DecodeNeed) -> Bool {
    switch need {
    case .memory(let bytes): bytes > terms.memory && bytes <= terms.most
    case .bodyOfImage: terms.part != nil && terms.previews != .off
    case .wholeBody: terms.part != nil
    case .refusal(let error): error != .cancelled
    }
  }

  /// The number of bytes of a thumbnail's samples, whose size follows from the request.
  private func byteCount(
    of pixels: HelperResponse.Pixels, for variant: Variant, of source: PixelSize
  ) throws(HelperFailure) -> Int {
    let geometry = ThumbnailGeometry(source: source, variant: variant, isDrawing: format.isDrawing)
    let bands =
      switch pixels.space {
      case .gray: 1...2
      case .rgb: 3...4
      case .ycc: 3...3
      // Never a thumbnail's.
      case .cmyk: 0...0
      }
    guard bands.contains(pixels.bands), pixels.size == geometry.output, pixels.size.isValidThumbnailSize,
      terms.acceptsDamage || !pixels.isDamaged,
      pixels.timing.map({ isValid($0, pixels, variant) }) ?? (pixels.rasterSize == geometry.cut),
      pixels.rasterSize.pixelCount <= mostBytes / pixels.bands
    else { throw .nonsense(detail: "a thumbnail that is none") }
    guard pixels.profileLength.map({ variant.metadata == .profile && (0...ICCProfile.longest).contains($0) }) ?? true
    else { throw .nonsense(detail: "a profile of \(pixels.profileLength ?? 0) bytes") }
    return pixels.rasterSize.pixelCount * pixels.bands
  }

  /// Whether the frames are the requested ones, each of the thumbnail's size.
  private func isValid(_ timing: AnimationTiming, _ pixels: HelperResponse.Pixels, _ variant: Variant) -> Bool {
    let (size, frames) = (pixels.size, timing.frameCount)
    return variant.frames == .all && pixels.bands == 4 && (1...mostFrames).contains(frames)
      && timing.delays.count <= frames && timing.delays.allSatisfy { $0 >= 0 } && timing.loops >= 0
      && pixels.rasterSize.width == size.width
      && pixels.rasterSize.height.quotientAndRemainder(dividingBy: frames) == (size.height, 0)
  }

  /// The image's size according to the response.
  private func sourceSize(_ response: HelperResponse) throws(HelperFailure) -> PixelSize {
    let longest = format.isDrawing ? Self.longestSide : limits.maximumSide
    guard let size = response.size, (1...longest).contains(size.width), (1...longest).contains(size.height),
      format.isDrawing || size.pixelCount <= limits.maximumPixels
    else { throw .nonsense(detail: "a picture beyond the limits") }
    guard probe == nil || probe?.size == size else { throw .nonsense(detail: "a picture of another size") }
    return size
  }
}
