import Foundation
import ThumbnailCore

@testable import DecodeSandbox

/// An answer that is not true: each is one field of a response.
enum Lie: String, CaseIterable, Sendable {
  case sizeOfTheSource, hugeSource, noSource, size, noSize, format, noFormat, byteCount, negativeByteCount
  case hugeByteCount, noBytes, cancelled, noOutcome, twoOutcomes

  /// The response to a request for one thumbnail of at most 40×40 pixels, and its bytes: a JPEG of 17×13.
  func response(with jpeg: Data) -> (HelperResponse, [Data]) {
    var outcome = HelperResponse.Outcome(size: PixelSize(17, 13), format: .jpeg, byteCount: jpeg.count)
    var response = HelperResponse(size: PixelSize(17, 13), outcomes: [])
    switch self {
    case .sizeOfTheSource: response.size = PixelSize(0, 1)
    case .hugeSource: response.size = PixelSize(1 << 62, 1 << 62)
    case .noSource: response.size = nil
    case .size: outcome.size = PixelSize(16, 13)
    case .noSize: outcome.size = nil
    case .format: outcome.format = .png
    case .noFormat: outcome.format = nil
    case .byteCount: outcome.byteCount += 1
    case .negativeByteCount: outcome.byteCount = -1
    case .hugeByteCount: outcome.byteCount = 1 << 40
    case .noBytes: outcome.byteCount = 0
    case .cancelled: outcome = .init(failure: .cancelled)
    case .noOutcome, .twoOutcomes: break
    }
    response.outcomes = self == .noOutcome ? [] : self == .twoOutcomes ? [outcome, outcome] : [outcome]
    return (response, [jpeg])
  }
}
