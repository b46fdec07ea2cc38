/// What is done to an image's outline besides fitting it into the box of its `Variant`.
///
/// The upright image is turned and mirrored; a part of it is cropped; that is brought to its size by the variant's box,
/// fit and gravity, and by what is here; and it is put on a canvas. Pixels of `crop` and `placement` are those of the
/// image that is turned already.
public struct Framing: Hashable, Sendable {
  /// Whether an image is an error that is not upright as it is stored.
  package var needsUpright = false
  /// How the upright image is turned and mirrored.
  public var turn = Orientation(exif: 1)
  /// The part of it that is used. Nil: all of it.
  public var crop: Crop?
  /// Which part `cover` keeps, in place of the variant's gravity. Its pixels are the thumbnail's.
  public var placement: Placement?
  /// The least width and height, for which an image is enlarged even where that was not requested. What the box has no
  /// room for is cut off. 0: none.
  public var minimum = PixelSize(0, 0)
  /// What the image's size, and that of the box, are multiplied by.
  public var zoom = Scale(1, 1)
  /// What the box, offsets and padding are multiplied by: device pixels a CSS pixel. Less where that would enlarge.
  public var density = 1.0
  /// What happens where the image is smaller than the box, and is not enlarged.
  public var shortfall = Shortfall.keepsShape
  /// Whether the thumbnail is extended where the image does not fill the box.
  public var canvas: Canvas?
  /// What is added around all of it, in pixels.
  public var padding = Padding()
  /// What shows on the canvas and in the padding.
  public var filling = Filling.clear

  /// Changes nothing.
  public init() {}

  /// The part of an image that is used.
  public struct Crop: Hashable, Sendable {
    /// The width in pixels where it is 1 or more, a share of the image's below, all of it where it is 0.
    public var width: Double
    /// The height, likewise.
    public var height: Double
    /// Where it lies. By content, nothing else may be cropped.
    public var placement: Placement
    /// Whether a part that is not within the image is an error. Otherwise it is moved, and what is too large reduced.
    public var isStrict: Bool

    /// A part by its size and where it lies.
    public init(width: Double, height: Double, placement: Placement = .gravity(.centre), isStrict: Bool = false) {
      (self.width, self.height, self.placement, self.isStrict) = (width, height, placement, isStrict)
    }

    /// A part by its upper left corner and its size, in pixels. It is an error where the image does not have all of it.
    public init(x: Int, y: Int, size: PixelSize) {
      self.init(
        width: Double(size.width), height: Double(size.height),
        placement: .gravity(.northwest, x: Double(x), y: Double(y)), isStrict: true)
    }

    /// Reads `300x200+10+20`: width, height, and the upper left corner; or `300x200`, which the gravity places. Nil for
    /// anything else.
    public init?(parsing text: some StringProtocol, gravity: Gravity = .centre) {
      let parts = text.split(separator: "+", omittingEmptySubsequences: false)
      guard let size = parts.first.flatMap({ PixelSize(parsing: $0) }) else { return nil }
      if parts.count == 1 {
        self.init(
          width: Double(size.width), height: Double(size.height), placement: .gravity(gravity), isStrict: true)
        return
      }
      let corner = parts.dropFirst().compactMap { $0.allSatisfy(\.isASCIIDigit) ? Int($0) : nil }
      guard corner.count == 2, parts.count == 3 else { return nil }
      self.init(x: corner[0], y: corner[1], size: size)
    }

    /// The size of the part of an image of this size.
    func size(in image: PixelSize) -> PixelSize {
      func side(_ length: Double, of side: Int) -> Int {
        length == 0 ? side : min(side, length < 1 ? max(1, Int((Double(side) * length).rounded())) : Int(length))
      }
      return PixelSize(side(width, of: image.width), side(height, of: image.height))
    }

    /// Whether an image of this size has all of it.
    func isWithin(_ image: PixelSize) -> Bool {
      var (right, below) = (width, height)
      if case .gravity(.northwest, let x, let y) = placement { (right, below) = (width + x, height + y) }
      return right <= Double(image.width) && below <= Double(image.height)
    }
  }

  /// Two factors, across and down.
  public struct Scale: Hashable, Sendable {
    /// Across.
    public var x: Double
    /// Down.
    public var y: Double

    /// Two factors.
    public init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
  }

  /// What happens where the image is smaller than the box, and is not enlarged.
  public enum Shortfall: String, Sendable, CaseIterable {
    /// `cover` keeps the box's shape, in a smaller size; `fill` stretches each side as far as the image has pixels.
    case keepsShape
    /// `cover` cuts each side to the box by itself, so that a side that is too short stays; `fill` keeps the box's shape.
    case cutsEachSide
    /// The image is enlarged all the same, unless both sides are shorter than the box's: then it stays as it is.
    case enlargesUnlessBoth
  }

  /// A larger area that the image is put on.
  public struct Canvas: Hashable, Sendable {
    /// How large it is.
    public enum Extent: String, Sendable, CaseIterable {
      /// The box.
      case box
      /// No larger than it has to be to have the shape of the box.
      case shape
    }

    /// How large it is.
    public var extent: Extent
    /// Where the image lies on it.
    public var placement: Placement

    /// A canvas as large as the box, with the image in its middle, unless stated otherwise.
    public init(_ extent: Extent = .box, placement: Placement = .gravity(.centre)) {
      (self.extent, self.placement) = (extent, placement)
    }
  }

  /// What is added around a thumbnail, in pixels.
  public struct Padding: Hashable, Sendable {
    /// Pixels at the top.
    public var top: Int
    /// Pixels at the right.
    public var right: Int
    /// Pixels at the bottom.
    public var bottom: Int
    /// Pixels at the left.
    public var left: Int

    /// A number of pixels for each side.
    public init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
      (self.top, self.right, self.bottom, self.left) = (top, right, bottom, left)
    }

    /// The same on all sides.
    public init(_ all: Int) { self.init(top: all, right: all, bottom: all, left: all) }
  }

  /// What shows where the image is not.
  public enum Filling: Hashable, Sendable {
    /// Nothing: transparent, which the variant's background replaces, and white in a JPEG.
    case clear
    /// Black, or transparent where the image may be transparent.
    case black
    /// A colour.
    case colour(RGBColor)
    /// The image's outermost pixels.
    case edge
    /// The image, mirrored at its edges as often as needed.
    case mirror
  }

  /// The greatest length, factor or offset.
  static let longest = 1e6
}

extension Framing {
  /// What is wrong with it, as a message that says what to do; nil when it is valid.
  func problem(with fit: Fit) -> String? {
    func isLength(_ number: Double) -> Bool { (0...Self.longest).contains(number) }
    let lengths = [padding.top, padding.right, padding.bottom, padding.left, minimum.width, minimum.height]
    guard lengths.allSatisfy({ (0...PixelSize.longestThumbnailSide).contains($0) }),
      [zoom.x, zoom.y, density].allSatisfy({ $0 > 0 && isLength($0) }), placement?.isValid ?? true,
      canvas?.placement.isValid ?? true,
      crop.map({ isLength($0.width) && isLength($0.height) && $0.placement.isValid }) ?? true
    else { return "a length, factor or offset cannot be used: give one from 0 to \(Int(Self.longest))" }
    if canvas?.placement.isByContent == true { return "an image's content cannot place it on a canvas; give an edge" }
    if crop?.placement.isByContent == true, fit == .cover || fit == .auto || minimum != PixelSize(0, 0) {
      return "a crop by content cannot be cropped again: give contain, or a crop with a place"
    }
    return nil
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
