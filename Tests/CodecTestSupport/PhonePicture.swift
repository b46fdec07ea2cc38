@testable import ThumbnailCore

/// A HEIC as a phone writes it, of 24 tiles and with a thumbnail, from which an editor may have changed the picture.
enum PhonePicture {
  static let side = 64
  static let size = PixelSize(384, 256)
  static let thumbnailSize = PixelSize(96, 64)

  /// What an editor has done to a picture without making a new thumbnail.
  enum Edit: CaseIterable {
    case anotherPicture, manyTilesReplaced, barOverACorner, innerTilePaintedOver, coloursChanged

    fileprivate func pixel(_ x: Int, _ y: Int) -> TestPicture.Pixel {
      let (tile, old) = (y / side * size.width / side + x / side, scene(x, y))
      return switch self {
      case .anotherPicture: old.map { 255 - $0 }
      case .manyTilesReplaced: tile % 3 > 0 ? scene(size.width - x, size.height - y) : old
      case .barOverACorner: x > size.width - 40 && (8..<24).contains(y) ? [0, 0, 0] : old
      // One that is not among those that are always compared.
      case .innerTilePaintedOver: tile == 9 ? [40, 40, 40] : old
      case .coloursChanged: [old[1], old[2], old[0]]
      }
    }
  }

  /// The file, with the thumbnail of the picture as it was before it was edited.
  static func bytes(_ edit: Edit? = nil, format: ImageFormat = .heif) throws -> [UInt8] {
    try TileFile(format: format, side: side, isFullRange: true, thumbnail: thumbnail).bytes(
      TestPicture(size.width, size.height) { x, y in edit?.pixel(x, y) ?? scene(x, y) })
  }

  /// In one piece, and the thumbnail of another picture.
  static func whole() throws -> [UInt8] {
    try TileFile(side: 256, isFullRange: true, thumbnail: TestPicture(64, 64) { _, _ in TestPicture.red })
      .bytes(TestPicture(256, 256, scene))
  }

  /// Squares of other brightness in a gradient: detail that the thumbnail shows.
  private static func scene(_ x: Int, _ y: Int) -> TestPicture.Pixel {
    let noise = ((x / 8 &* 7919 ^ y / 8 &* 104_729) &* 40_503) >> 7 & 63
    return [UInt8(40 + x * 120 / 400 + noise), UInt8(60 + y * 100 / 400 + noise), UInt8(150 - x * 80 / 400 + noise)]
  }

  private static var thumbnail: TestPicture {
    let divisor = size.width / thumbnailSize.width
    return TestPicture(thumbnailSize.width, thumbnailSize.height) { x, y in
      (0..<3).map { band in
        var sum = 0
        for row in 0..<divisor {
          for column in 0..<divisor { sum += Int(scene(x * divisor + column, y * divisor + row)[band]) }
        }
        return UInt8(sum / (divisor * divisor))
      }
    }
  }
}
