package import ThumbnailCore

/// The scale at which the coefficient decoder decodes a JPEG.
package enum JPEGScale: Int, Sendable, Comparable {
  /// One pixel per 8×8 block: for luma the DC coefficient only.
  case eighth = 8
  /// 2×2 pixels per block: of luma its 2×2 coefficients of lowest frequency.
  case quarter = 4
  /// 4×4 pixels per block: of luma its 4×4 coefficients of lowest frequency.
  case half = 2
  /// Every pixel, from all coefficients.
  case full = 1

  /// The scales at which a part of the coefficients suffices, smallest first.
  package static let reduced: [JPEGScale] = [.eighth, .quarter, .half]

  /// The side of the blocks of a component that has only one sample for `subsampling` pixels across or down: as many
  /// samples as there are pixels.
  func side(subsampling: Int) -> BlockSide { BlockSide(atLeast: min(8, 8 / rawValue * subsampling)) }

  /// The reduced size of an image of `size` pixels; a partial last block counts as a whole one, as in libjpeg.
  package func size(of size: PixelSize) -> PixelSize {
    PixelSize((size.width + rawValue - 1) / rawValue, (size.height + rawValue - 1) / rawValue)
  }

  /// The smaller scale orders first.
  package static func < (a: JPEGScale, b: JPEGScale) -> Bool { a.rawValue > b.rawValue }
}
