/// Changes of an image's outline, besides fitting it into the box of its `Variant`.
///
/// In this order: the upright image is turned and mirrored; a part of it is cropped; the part is resized by the
/// variant's box, fit and gravity and by the values here; and it is put on a canvas. `crop` and `placement` count
/// pixels of the turned image.
public struct Framing: Hashable, Sendable {
  /// Whether an image is an error that is not upright as it is stored.
  package var needsUpright = false
  /// How the upright image is turned and mirrored.
  public var turn = Orientation(exif: 1)
  /// The part of it that is used. Nil: all of it.
  public var crop: Crop?
  /// The part that `cover` keeps, in place of the variant's gravity, in pixels of the thumbnail.
  public var placement: Placement?
  /// The least width and height: a smaller image is enlarged, even if that was not requested, and parts outside the box
  /// are cropped. 0: none.
  public var minimum = PixelSize(0, 0)
  /// The factors for the sizes of the image and the box.
  public var zoom = Scale(1, 1)
  /// The factor for the box, offsets and padding: device pixels per CSS pixel. It is reduced if it would enlarge the
  /// image.
  public var density = 1.0
  /// The result if the image is smaller than the box and is not enlarged.
  public var shortfall = Shortfall.keepsShape
  /// The canvas to which the thumbnail is extended if the image does not fill the box.
  public var canvas: Canvas?
  /// The padding around all of it, in pixels.
  public var padding = Padding()
  /// The colour of the canvas and the padding.
  public var filling = Filling.clear

  /// Changes nothing.
  public init() {}

  /// The part of an image that is used.
  public struct Crop: Hashable, Sendable {
    /// The width: in pixels if it is 1 or more, else a fraction of the image's; 0 is all of it.
    public var width: Double
    /// The height, likewise.
    public var height: Double
    /// The place of the part. If it is found by content, nothing else may be cropped.
    public var placement: Placement
    /// Whether a part that is not within the image is an error. Otherwise it is moved, and reduced if it is too large.
    public var isStrict: Bool

    /// A part by its size and place.
    public init(width: Double, height: Double, placement: Placement = .gravity(.centre), isStrict: Bool = false) {
      (self.width, self.height, self.placement, self.isStrict) = (width, height, placement, isStrict)
    }

    /// A part by its upper left corner and its size, in pixels. It is an error if the image does not contain all of it.
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

    /// Whether an image of this size contains all of it.
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

  /// The result if the image is smaller than the box and is not enlarged.
  public enum Shortfall: String, Sendable, CaseIterable {
    /// `cover` keeps the box's aspect ratio in a smaller size; `fill` stretches each side as far as the image has
    /// pixels.
    case keepsShape
    /// `cover` crops each side to the box by itself, and leaves a side that is too short; `fill` keeps the box's aspect
    /// ratio.
    case cutsEachSide
    /// The image is enlarged, unless both of its sides are shorter than the box's: then its size stays.
    case enlargesUnlessBoth
  }

  /// A larger area that the image is put on.
  public struct Canvas: Hashable, Sendable {
    /// How large it is.
    public enum Extent: String, Sendable, CaseIterable {
      /// The box.
      case box
      /// The smallest size with the aspect ratio of the box.
      case shape
    }

    /// How large it is.
    public var extent: Extent
    /// The place of the image on it.
    public var placement: Placement

    /// A canvas as large as the box, with the image in its middle, unless stated otherwise.
    public init(_ extent: Extent = .box, placement: Placement = .gravity(.centre)) {
      (self.extent, self.placement) = (extent, placement)
    }
  }

  /// The padding around a thumbnail, in pixels.
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

  /// The colour of the area outside the image.
  public enum Filling: Hashable, Sendable {
    /// Transparent, or the variant's background, or white in a JPEG.
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
  /// A message that says why it is invalid and what to do; nil if it is valid.
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

/// The size at which the image is read before it is reduced to the thumbnail, and so the difference from a full decode
/// that is resized with Lanczos.
public enum Scaling: String, Sendable, Codable, CaseIterable {
  /// At least at the thumbnail's own size: the fewest bytes, the least memory and a visible loss, for placeholders and
  /// very small thumbnails.
  case fast
  /// At twice the thumbnail's size, or less for smooth images: at most one thumbnail in fifty is worse than
  /// vipsthumbnail's by 0.005 SSIM or 0.3 dE2000.
  case good
  /// Always at two and a half times the thumbnail's size. Even at twice its size, none of 269 images was worse by those
  /// limits.
  case best
}

/// The light in which pixels are averaged.
public enum Light: String, Sendable, Codable, CaseIterable {
  /// The values as they are encoded for display, as in most programs: the fastest. Alternating black and white pixels
  /// become 128.
  case display
  /// Linear light, as an eye or a lens averages it: alternating black and white pixels become 188. Bright points and
  /// thin lines on dark keep their brightness; dark ones on bright become paler. The coefficient reader measures the
  /// variance that it averages away in a large JPEG, which takes half as long again. Other images, and all with
  /// `Scaling.best`, are read whole. `Scaling.fast` reads them as small as in display light, and averages only the rest
  /// in linear light.
  case linear
}
