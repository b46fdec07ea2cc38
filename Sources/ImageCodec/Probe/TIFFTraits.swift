import ThumbnailCore

/// The smaller copies of a TIFF's image that are in the same file: the levels of a pyramid.
struct TIFFTraits: Sendable, Equatable {
  /// The largest first.
  var levels: [TIFFLevel]
  /// The parts of the file that a reader needs besides a level's own bytes: its header, and the first directory with
  /// its values.
  var head: [Range<Int>]
}

/// A smaller copy of a TIFF's image.
struct TIFFLevel: Sendable, Equatable {
  /// How its directory is found.
  enum Place: Sendable, Equatable {
    /// In the chain of directories, from 0.
    case page(Int)
    /// The index among those that a field of the first directory points to, from 0.
    case subdirectory(Int)
  }

  /// The position of its directory in the file.
  var position: Int
  var place: Place
  var size: PixelSize
  /// The bytes of a strip or a row of tiles.
  var blockBytes: Int
  /// Whether the image has a colour profile that its own directory lacks.
  var lacksProfile: Bool
  /// The ranges of its directory and its strips or tiles, in order, near ones joined; nil if the file lacks them, or
  /// there are too many.
  var ranges: [Range<Int>]?

  /// The reduction of the image, rounded.
  func reduction(of image: PixelSize) -> Int {
    Int((Double(image.longerSide) / Double(max(1, size.longerSide))).rounded())
  }

  /// Strips and tiles with fewer bytes between them are one range.
  static let nearness = 64 << 10

  /// Ranges in order. Ranges that overlap or are near each other are joined.
  static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var merged: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = merged.last, range.lowerBound - last.upperBound < nearness {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }

  /// Whether all of it is within a file of this length, as far as the file shows; 0 stands for an unknown length.
  func isWithin(_ length: Int) -> Bool { length == 0 || (ranges?.last?.upperBound ?? 0) <= length }
}
