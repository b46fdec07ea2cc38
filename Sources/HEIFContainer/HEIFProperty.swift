package import ThumbnailCore

/// A property of an item: its size, its colours, how it is shown.
package struct HEIFProperty: Sendable, Equatable {
  package enum Value: Sendable, Equatable {
    /// The size as coded (`ispe`).
    case extent(PixelSize)
    /// Rotation anti-clockwise by this number of quarter turns (`irot`).
    case rotation(Int)
    /// Left and right are exchanged, or top and bottom (`imir`).
    case mirror(exchangesSides: Bool)
    /// Only a part of it is shown (`clap`).
    case aperture(CleanAperture)
    /// The colour space of the samples (`colr`).
    case colour(CodedColour)
    /// The ICC profile (`colr`).
    case profile([UInt8])
    /// The bits of each channel (`pixi`).
    case bits([Int])
    /// The type of an auxiliary item (`auxC`), as a URN.
    case auxiliary(String)
    /// The brightest light of any pixel in cd/m², 0 if unknown (`clli`).
    case peakLight(Int)
    /// How HEVC is coded (`hvcC`).
    case hevc(HEVCConfiguration)
    /// How AV1 is coded (`av1C`).
    case av1(AV1Configuration)
    case other(FourCC)
  }

  package let value: Value
  /// Whether a reader that does not know it must not show the item.
  package let isEssential: Bool

  /// Whether it changes how the item is shown but is not known here.
  var isObstacle: Bool { if case .other = value { isEssential } else { false } }
}

extension HEIFProperty.Value {
  /// Parses the content of a property's box.
  init(_ kind: FourCC, _ content: BoxCursor) throws(CodecError) {
    var content = content
    switch kind {
    case "ispe":
      _ = try content.versionAndFlags()
      self = .extent(PixelSize(try content.number(4), try content.number(4)))
    case "irot": self = .rotation(try content.number(1) & 3)
    case "imir": self = .mirror(exchangesSides: try content.number(1) & 1 == 1)
    case "clap": self = .aperture(try CleanAperture(&content))
    case "colr":
      switch try content.fourCC() {
      case "nclx": self = .colour(try CodedColour(&content))
      case "prof", "rICC": self = .profile(content.remaining)
      default: self = .other(kind)
      }
    case "pixi":
      _ = try content.versionAndFlags()
      var bits: [Int] = []
      for _ in 0..<(try content.number(1)) { bits.append(try content.number(1)) }
      self = .bits(bits)
    case "auxC":
      _ = try content.versionAndFlags()
      self = .auxiliary(content.text())
    case "clli": self = .peakLight(try content.number(2))
    case "hvcC": self = .hevc(try HEVCConfiguration(&content))
    case "av1C": self = .av1(try AV1Configuration(&content))
    default: self = .other(kind)
    }
  }
}

/// The numbers of ITU-T H.273 for the colour space of luma and chroma.
package struct CodedColour: Sendable, Hashable {
  package var primaries: Int
  package var transfer: Int
  package var matrix: Int
  /// Whether black is 0, not 16.
  package var isFullRange: Bool

  package init(primaries: Int, transfer: Int, matrix: Int, isFullRange: Bool) {
    (self.primaries, self.transfer) = (primaries, transfer)
    (self.matrix, self.isFullRange) = (matrix, isFullRange)
  }

  init(_ content: inout BoxCursor) throws(CodecError) {
    (primaries, transfer, matrix) = (try content.number(2), try content.number(2), try content.number(2))
    isFullRange = try content.number(1) & 0x80 != 0
  }
}

/// The part of an image that is shown: its size, and the distance of its centre from the image's, as fractions.
package struct CleanAperture: Sendable, Hashable {
  private let numbers: [Int]

  init(_ content: inout BoxCursor) throws(CodecError) {
    var numbers: [Int] = []
    for index in 0..<8 { numbers.append(index == 4 || index == 6 ? try content.signedNumber() : try content.number(4)) }
    self.numbers = numbers
  }

  /// The part of an image of this size.
  ///
  /// - Throws: `.handedOver` for fractions of pixels and parts outside the image.
  package func part(of size: PixelSize) throws(CodecError) -> PixelRectangle {
    let width = try Self.side(numbers[0], numbers[1], of: size.width)
    let height = try Self.side(numbers[2], numbers[3], of: size.height)
    let x = try Self.start(numbers[4], numbers[5], side: width, of: size.width)
    let y = try Self.start(numbers[6], numbers[7], side: height, of: size.height)
    return PixelRectangle(x: x, y: y, size: PixelSize(width, height))
  }

  private static func side(_ numerator: Int, _ denominator: Int, of whole: Int) throws(CodecError) -> Int {
    guard denominator > 0, numerator % denominator == 0, (1...max(1, whole)).contains(numerator / denominator) else {
      throw .handedOver(reason: "a clean aperture of \(numerator)/\(denominator)")
    }
    return numerator / denominator
  }

  /// The numbers have 32 bits: their products fit.
  private static func start(
    _ numerator: Int, _ denominator: Int, side: Int, of whole: Int
  ) throws(CodecError) -> Int {
    let spare = whole - side
    guard denominator > 0, denominator < 1 << 24, spare < 1 << 31 else { throw .handedOver(reason: "a clean aperture") }
    let twice = spare * denominator + 2 * numerator
    guard twice >= 0, twice / (2 * denominator) <= spare else { throw .handedOver(reason: "a clean aperture outside") }
    return twice / (2 * denominator)
  }
}
