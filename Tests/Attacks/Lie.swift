import Foundation
import ImageCodec
import ThumbnailCore

@testable import DecodeSandbox

/// An answer that is not true: each is one field of a response.
enum Lie: String, CaseIterable, Sendable {
  case sizeOfTheSource, hugeSource, noSource, size, emptySize, negativeSize, rasterSize, hugeRaster, endlessRaster
  case emptyRaster, bands, noBands, inks, frames, noFrames, oddFrames, hugeProfile, negativeProfile, fewBytes
  case cancelled, noOutcome, twoOutcomes, needsLibvips, smallSize, smallRaster, unaskedProfile, salvaged, longError
  case manyFrames, lessMemory, muchMemory, endlessMemory, moreBody, oddPlan, refusal

  /// Safety: a helper has one thread while it decodes nothing.
  nonisolated(unsafe) private static var demanded = 0

  /// The response to a request for one thumbnail of at most 40×40 pixels, and its samples: gray of 17×13.
  func response() -> (HelperResponse, [HelperAttachment]) {
    let size = PixelSize(17, 13)
    var pixels = HelperResponse.Pixels(size: size, rasterSize: size, space: .gray, bands: 1)
    var response = HelperResponse(size: size, outcomes: [])
    var bytes = [UInt8](repeating: 7, count: 17 * 13)
    var failure: CodecError?
    switch self {
    case .sizeOfTheSource: response.size = PixelSize(0, 1)
    case .hugeSource: response.size = PixelSize(1 << 62, 1 << 62)
    case .noSource: response.size = nil
    case .size: pixels.size = PixelSize(41, 13)
    case .smallSize: (pixels.size, pixels.rasterSize) = (PixelSize(13, 17), PixelSize(13, 17))
    case .smallRaster: (pixels.rasterSize, bytes) = (PixelSize(17, 12), Array(bytes.dropFirst(17)))
    case .unaskedProfile: (pixels.keepsMetadata, pixels.profileLength, bytes) = (true, 128, bytes + bytes.prefix(128))
    case .manyFrames:
      (pixels.space, pixels.bands, pixels.rasterSize) = (.rgb, 4, PixelSize(17, 13 * 1000))
      pixels.timing = AnimationTiming(frameCount: 1000, delays: [], loops: 0)
    case .salvaged: pixels.isDamaged = true
    case .longError: failure = .damaged(.decode, detail: String(repeating: "POISON ", count: 10_000))
    case .emptySize: pixels.size = PixelSize(17, 0)
    case .negativeSize: pixels.size = PixelSize(-17, -13)
    case .rasterSize: pixels.rasterSize = PixelSize(18, 13)
    case .hugeRaster: pixels.rasterSize = PixelSize(1 << 62, 1 << 62)
    case .endlessRaster: pixels.rasterSize = PixelSize(1, 1 << 62)
    case .emptyRaster: pixels.rasterSize = PixelSize(0, 0)
    case .bands: pixels.bands = 3
    case .noBands: pixels.bands = 0
    case .inks: (pixels.space, pixels.bands) = (.cmyk, 4)
    case .frames, .noFrames, .oddFrames:
      (pixels.space, pixels.bands) = (.rgb, 4)
      let count = self == .frames ? 1 : self == .noFrames ? 0 : 2
      pixels.timing = AnimationTiming(frameCount: count, delays: [1, 2, 3], loops: 0)
    case .hugeProfile: (pixels.keepsMetadata, pixels.profileLength) = (true, 1 << 40)
    case .negativeProfile: (pixels.keepsMetadata, pixels.profileLength) = (true, -1)
    case .fewBytes: bytes.removeLast()
    case .cancelled: failure = .cancelled
    case .needsLibvips: response.needsLibvips = true
    case .lessMemory: response.need = .memory(1)
    case .muchMemory: response.need = .memory(1 << 62)
    case .endlessMemory:
      Self.demanded += 1
      response.need = .memory((64 << 20) + Self.demanded)
    case .moreBody: response.need = .wholeBody
    case .refusal: response.need = .refusal(.cancelled)
    case .oddPlan: response.plan = "\u{9B}2J"
    case .noOutcome, .twoOutcomes: break
    }
    let outcome = failure.map { HelperResponse.Outcome.failure($0) } ?? .pixels(pixels)
    let isEmpty = [.noOutcome, .needsLibvips].contains(self) || response.need != nil
    let count = isEmpty ? 0 : self == .twoOutcomes ? 2 : 1
    response.outcomes = Array(repeating: outcome, count: count)
    return (response, [.bytes(bytes)])
  }

  /// Whether the parent waits in vain for the bytes that were promised.
  var leavesParentWaiting: Bool { self == .fewBytes }
}
