/// The scale at which the coefficient decoder decodes a JPEG.
package enum JPEGScale: Int, Sendable, CaseIterable, Comparable {
  /// One pixel per 8×8 block: the DC coefficient only.
  case eighth = 8
  /// 2×2 pixels per block: its 2×2 coefficients of lowest frequency.
  case quarter = 4

  /// The last zigzag position whose coefficient is kept. At 1/4 those are 0, 1, 2 and 4; 3 lies between them and is
  /// ignored.
  var lastPosition: Int {
    switch self {
    case .eighth: 0
    case .quarter: 4
    }
  }

  /// The zigzag positions whose coefficients are kept.
  var positions: [Int] {
    switch self {
    case .eighth: [0]
    case .quarter: [0, 1, 2, 4]
    }
  }

  /// The reduced size of an image of `size` pixels; a partial last block counts as a whole one, as in libjpeg.
  package func size(of size: JPEGSize) -> JPEGSize {
    JPEGSize((size.width + rawValue - 1) / rawValue, (size.height + rawValue - 1) / rawValue)
  }

  /// The smaller scale orders first.
  package static func < (a: JPEGScale, b: JPEGScale) -> Bool { a.rawValue > b.rawValue }
}
