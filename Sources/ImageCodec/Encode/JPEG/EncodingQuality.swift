import Glibc
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

  private static let luma = QuantiserTable.Shape(
    steps: steps(10, mean: 1.376, growth: 2.19, bend: 0.65), least: 0.5, frequency: 0.047, texture: 0.256, energy: 25)
  private static let chroma = QuantiserTable.Shape(
    steps: steps(12.8, mean: 1.112, growth: 2.341, bend: 0.788), least: 0.5, frequency: 0.08, texture: 0.253,
    energy: 17)

  /// In 16ths of the steps at the quality 50, in rows of frequencies: `finest` · exp(`growth` · f^`bend`), f being the
  /// distance of the frequency from 0 in sevenths; that of the mean is `mean` times `finest`. All of it times 0.725.
  private static func steps(_ finest: Double, mean: Double, growth: Double, bend: Double) -> [Double] {
    (0..<64).map { place in
      let distance = hypot(Double(place % 8), Double(place / 8)) / 7
      return (0.725 * 16 * finest * (place == 0 ? mean : exp(growth * pow(distance, bend)))).rounded()
    }
  }

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
