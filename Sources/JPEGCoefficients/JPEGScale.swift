/// How much of a JPEG the coefficient reader keeps, named by the size of what it gives.
package enum JPEGScale: Int, Sendable, CaseIterable, Comparable {
  /// One pixel for a block of 8×8: the DC coefficient alone.
  case eighth = 8
  /// Four pixels for a block: its 2×2 coefficients of lowest frequency.
  case quarter = 4

  /// The last position in zigzag order whose coefficient is kept. At 1/4 those are 0, 1, 2 and 4; 3 lies between them
  /// and is not used.
  var lastPosition: Int {
    switch self {
    case .eighth: 0
    case .quarter: 4
    }
  }

  /// The positions in zigzag order whose coefficients are kept.
  var positions: [Int] {
    switch self {
    case .eighth: [0]
    case .quarter: [0, 1, 2, 4]
    }
  }

  /// The size of what is given for a picture of `size` pixels: a last block that is not whole counts, as with libjpeg.
  package func size(of size: JPEGSize) -> JPEGSize {
    JPEGSize((size.width + rawValue - 1) / rawValue, (size.height + rawValue - 1) / rawValue)
  }

  /// The scale that gives less stands first.
  package static func < (a: JPEGScale, b: JPEGScale) -> Bool { a.rawValue > b.rawValue }
}
