/// Changes of an image's outline, besides fitting it into the box of its `Variant`.
package struct Framing: Hashable, Sendable {
  /// The part of the upright image that is used. Nil: all of it.
  package var crop: Crop?
  /// The point that `cover` keeps in the middle, in place of the variant's gravity.
  package var focus: Focus?
  /// Whether `cover` enlarges an image unless both of its sides are shorter than the box's: then its size stays.
  package var enlargesUnlessBoth = false

  /// Changes nothing.
  package init() {}

  /// The part of an image that is used. It is an error if the image does not contain all of it.
  package struct Crop: Hashable, Sendable {
    /// Its size in pixels.
    package let size: PixelSize
    /// Its place. If the image's content decides it, nothing else may be cropped.
    package let gravity: Gravity
    /// The upper left corner, if `gravity` is `northwest`; else 0.
    let (x, y): (Int, Int)

    /// A part by its upper left corner and its size, in pixels.
    package init(x: Int, y: Int, size: PixelSize) { (self.x, self.y, self.size, gravity) = (x, y, size, .northwest) }

    /// A part by its size in pixels and its place.
    package init(_ size: PixelSize, at gravity: Gravity) { (x, y, self.size, self.gravity) = (0, 0, size, gravity) }

    /// Reads `300x200+10+20`: width, height, and the upper left corner; or `300x200`, which the gravity places. Nil for
    /// anything else.
    package init?(parsing text: some StringProtocol, gravity: Gravity = .centre) {
      let parts = text.split(separator: "+", omittingEmptySubsequences: false)
      guard let size = parts.first.flatMap({ PixelSize(parsing: $0) }) else { return nil }
      self.init(size, at: gravity)
      if parts.count == 1 { return }
      let corner = parts.dropFirst().compactMap { $0.allSatisfy(\.isASCIIDigit) ? Int($0) : nil }
      guard corner.count == 2, parts.count == 3 else { return nil }
      self.init(x: corner[0], y: corner[1], size: size)
    }

    /// The upper left corner in an image of this size. By content: in the middle.
    func corner(in image: PixelSize) -> (x: Int, y: Int) {
      gravity == .northwest ? (x, y) : gravity.corner(of: size, in: image)
    }

    /// Whether an image of this size contains all of it.
    func isWithin(_ image: PixelSize) -> Bool {
      x <= image.width - size.width && y <= image.height - size.height
    }
  }

  /// A point of an image, in fractions of its sides from the upper left corner.
  package struct Focus: Hashable, Sendable {
    let (x, y): (Double, Double)

    /// Nil for a point outside.
    package init?(x: Double, y: Double) {
      guard (0...1).contains(x), (0...1).contains(y) else { return nil }
      (self.x, self.y) = (x, y)
    }

    /// The upper left corner of the smaller rectangle in the larger one, with its middle as near as possible to it.
    func corner(of inner: PixelSize, in outer: PixelSize) -> (x: Int, y: Int) {
      func start(_ share: Double, _ outer: Int, _ inner: Int) -> Int {
        max(0, min(outer - inner, Int((Double(outer) * share).rounded(.toNearestOrEven)) - inner / 2))
      }
      return (start(x, outer.width, inner.width), start(y, outer.height, inner.height))
    }
  }

  /// The greatest length or offset.
  private static let longest = 1_000_000

  /// A message that says why it is invalid and what to do; nil if it is valid.
  func problem(with fit: Fit) -> String? {
    guard let crop else { return nil }
    guard [crop.x, crop.y].allSatisfy({ (0...Self.longest).contains($0) }),
      [crop.size.width, crop.size.height].allSatisfy({ (1...Self.longest).contains($0) })
    else {
      return "a part cannot be cropped so: give numbers up to \(Self.longest)"
    }
    if crop.gravity.isByContent, fit == .cover || fit == .auto {
      return "a crop by content cannot be cropped again: give contain, or a crop with a place"
    }
    return nil
  }
}

extension Framing {
  /// The framing as a short string, without semicolons: `@c300.0:200.0:northwest:10.0:20.0:1,pfocus:0.25:1.0`. Values
  /// that are not set are left out.
  var token: String {
    var parts: [String] = []
    if let crop {
      let numbers = [crop.size.width, crop.size.height, crop.x, crop.y].map { Double($0) }
      parts.append("c\(numbers[0]):\(numbers[1]):\(crop.gravity.rawValue):\(numbers[2]):\(numbers[3]):1")
    }
    if let focus { parts.append("pfocus:\(focus.x):\(focus.y)") }
    if enlargesUnlessBoth { parts.append("senlargesUnlessBoth") }
    return "@" + parts.joined(separator: ",")
  }

  /// Parses a token. Nil for a text with other parts; the caller compares the text with the token of the result.
  init?(token: some StringProtocol) {
    guard token.hasPrefix("@") else { return nil }
    for part in token.dropFirst().split(separator: ",") {
      let values = part.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
      let numbers = values.compactMap { Double($0) }
      switch part.first {
      case "c" where values.count == 6 && numbers.count == 5:
        let lengths = numbers.compactMap { Int(exactly: $0) }
        guard let gravity = Gravity(rawValue: String(values[2])), lengths.count == 5 else { return nil }
        let size = PixelSize(lengths[0], lengths[1])
        crop = gravity == .northwest ? Crop(x: lengths[2], y: lengths[3], size: size) : Crop(size, at: gravity)
      case "p" where values.count == 3 && numbers.count == 2: focus = Focus(x: numbers[0], y: numbers[1])
      case "s": enlargesUnlessBoth = true
      default: return nil
      }
    }
  }
}

extension Gravity {
  /// Whether the image's content decides.
  package var isByContent: Bool { self == .attention || self == .entropy }

  /// The upper left corner of a smaller rectangle in a larger one. By content: in the middle.
  func corner(of inner: PixelSize, in outer: PixelSize) -> (x: Int, y: Int) {
    let (across, down) = sides
    func start(_ side: Int, _ spare: Int) -> Int { side < 0 ? 0 : side > 0 ? spare : spare / 2 }
    return (start(across, outer.width - inner.width), start(down, outer.height - inner.height))
  }

  /// Which edge it is at, across and down: -1 left or top, 0 neither, 1 right or bottom.
  private var sides: (x: Int, y: Int) {
    switch self {
    case .centre, .attention, .entropy: (0, 0)
    case .north: (0, -1)
    case .northeast: (1, -1)
    case .east: (1, 0)
    case .southeast: (1, 1)
    case .south: (0, 1)
    case .southwest: (-1, 1)
    case .west: (-1, 0)
    case .northwest: (-1, -1)
    }
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

/// How an image is fitted into the requested box, named as in CSS `object-fit`.
public enum Fit: String, Sendable, Codable, CaseIterable {
  /// The whole image inside the box; the thumbnail may be smaller than the box in one direction.
  case contain
  /// The box filled, the rest cropped; `Gravity` chooses the part that is kept.
  case cover
  /// Stretched to the box.
  case fill
  /// As `cover` if image and box are both upright or both not, else as `contain`. A square is not upright.
  case auto
}

/// Which part of the image `Fit.cover` keeps.
public enum Gravity: String, Sendable, Codable, CaseIterable {
  /// The middle.
  case centre
  /// The most conspicuous part: edges, saturated colours and skin tones.
  case attention
  /// The part with the most detail.
  case entropy
  /// The upper edge.
  case north
  /// The right edge.
  case east
  /// The lower edge.
  case south
  /// The left edge.
  case west
  /// The upper right corner.
  case northeast
  /// The lower right corner.
  case southeast
  /// The lower left corner.
  case southwest
  /// The upper left corner.
  case northwest
}
