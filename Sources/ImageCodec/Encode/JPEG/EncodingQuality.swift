import Synchronization
import ThumbnailCore

/// What a quality of libjpeg's scale means for the quantisers of `BaselineEncoder`: about the same look, by
/// SSIMULACRA2, in fewer bytes.
struct EncodingQuality: Equatable {
  /// What grey images without chroma are quantised more finely by: luma alone shows its errors.
  private static let grayFactor = 0.9
  /// The same for small images, whose pixels are seen one by one, and their most pixels.
  private static let smallFactor = 0.88
  private static let smallPixels = 36_000

  /// In 16ths of the steps at the quality 50: 10 · exp(2.19 · f^0.65), f being the distance of the frequency from 0 in
  /// sevenths. That of the mean is 1.376 times as much. All of it times 0.725.
  private static let luma = QuantiserTable.Shape(
    steps: [
      160, 215, 306, 410, 532, 674, 841, 1036,
      215, 252, 329, 428, 548, 689, 856, 1052,
      306, 329, 391, 481, 596, 735, 901, 1097,
      410, 428, 481, 564, 674, 811, 976, 1173,
      532, 548, 596, 674, 781, 916, 1082, 1280,
      674, 689, 735, 811, 916, 1052, 1218, 1419,
      841, 856, 901, 976, 1082, 1218, 1388, 1592,
      1036, 1052, 1097, 1173, 1280, 1419, 1592, 1802,
    ],
    least: 0.5, frequency: 0.047, texture: 0.256, energy: 25)

  /// 12.8 · exp(2.341 · f^0.788), that of the mean 1.112 times as much, all of it times 0.725.
  private static let chroma = QuantiserTable.Shape(
    steps: [
      165, 246, 355, 493, 670, 894, 1180, 1543,
      246, 288, 385, 519, 694, 920, 1207, 1572,
      355, 385, 467, 595, 769, 997, 1289, 1661,
      493, 519, 595, 719, 894, 1127, 1428, 1812,
      670, 694, 769, 894, 1075, 1316, 1631, 2033,
      894, 920, 997, 1127, 1316, 1572, 1905, 2332,
      1180, 1207, 1289, 1428, 1631, 1905, 2264, 2721,
      1543, 1572, 1661, 1812, 2033, 2332, 2721, 3218,
    ],
    least: 0.5, frequency: 0.08, texture: 0.253, energy: 17)

  /// The factor of the steps.
  private let scale: Double
  private let isGray: Bool

  /// - Parameter quality: 1 to 89.
  init(_ quality: Int, size: PixelSize, isGray: Bool) {
    self.isGray = isGray
    // libjpeg's factor. Its coarse quantisers look better than ours of the same factor, so ours stay behind.
    let factor = quality < 50 ? 50 / Double(quality) : 2 - Double(quality) / 50
    let same = factor <= 1 ? factor : factor * min(1.31, 0.945 + 0.055 * factor)
    scale =
      same * (isGray ? Self.grayFactor : 1) * (size.pixelCount < Self.smallPixels ? Self.smallFactor : 1) / 16
  }

  /// The last tables, because most thumbnails of a program have one quality.
  private static let last = Mutex<(quality: EncodingQuality, tables: [QuantiserTable])?>(nil)

  /// The tables of luma, and of chroma if there is any.
  var quantisers: [QuantiserTable] {
    if let last = Self.last.withLock({ $0 }), last.quality == self { return last.tables }
    let shapes = isGray ? [Self.luma] : [Self.luma, Self.chroma]
    let tables = shapes.map { QuantiserTable($0, scale: scale) }
    Self.last.withLock { $0 = (self, tables) }
    return tables
  }
}
