import ThumbnailCore

/// The smaller copies of a TIFF's image that are in the same file: the levels of a pyramid.
struct TIFFTraits: Sendable, Equatable {
  /// The largest first.
  var levels: [TIFFLevel]
  /// What a reader needs of the file besides a level's own bytes: its header, and the first directory with its values.
  var head: [Range<Int>]
}

/// A smaller copy of a TIFF's image.
struct TIFFLevel: Sendable, Equatable {
  /// How its directory is found.
  enum Place: Sendable, Equatable {
    /// In the chain of directories, from 0.
    case page(Int)
    /// Among those that a field of the first directory points to, from 0.
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
  /// Where its directory and its strips or tiles are, in order, those near to each other as one; nil if the file does
  /// not tell, or there are too many.
  var ranges: [Range<Int>]?

  /// How many times smaller it is than the image, rounded.
  func reduction(of image: PixelSize) -> Int {
    Int((Double(image.longerSide) / Double(max(1, size.longerSide))).rounded())
  }

  /// Strips and tiles with fewer bytes between them are one range.
  static let nearness = 64 << 10

  /// Ranges in order; those that overlap, or are near to each other, as one.
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

  /// Whether all of it is in a file of this length, as far as the file tells; 0 stands for an unknown length.
  func isWithin(_ length: Int) -> Bool { length == 0 || (ranges?.last?.upperBound ?? 0) <= length }
}
