/// The geometry of a thumbnail. All sizes are those of the upright image.
///
/// A part of the image, `region`, is reduced to `view`; a part of that, `cut`, is kept and enlarged to `output` if need
/// be. So nothing large is ever enlarged.
package struct ThumbnailGeometry: Sendable, Equatable {
  /// The image.
  package private(set) var source: PixelSize
  /// The part of it that is used.
  package private(set) var region: PixelRectangle
  /// Whether the image does not contain all of the requested part.
  package private(set) var lacksCrop: Bool
  /// The size of the reduced region before cropping, never larger than the region.
  package private(set) var view: PixelSize
  /// The part of the view that is kept; in the middle, until `search` has found it.
  package private(set) var cutRectangle: PixelRectangle
  /// The gravity that finds that part in the view.
  package private(set) var search: Gravity?
  /// The size of the thumbnail.
  package private(set) var output: PixelSize
  /// The size of the whole image that a decoder would have to deliver for the view.
  package private(set) var whole: PixelSize

  /// The size of the part of the view that is kept.
  package var cut: PixelSize { cutRectangle.size }
  /// Whether anything is cropped from the view.
  package var crops: Bool { cut != view }
  /// Whether the image is enlarged.
  package var enlarges: Bool { output != cut }

  /// Whether strangers may request it: at most this many pixels, and not enlarged, because then a small image costs
  /// much.
  package func isForStrangers(_ mostPixels: Int) -> Bool { output.pixelCount <= mostPixels && !enlarges }

  /// The geometry of a variant of an image of this upright size.
  ///
  /// - `contain` keeps the image's aspect ratio, rounded to whole pixels, at least 1.
  /// - `cover` gives exactly the box if the image is large enough. Otherwise, the image is cropped to the box's aspect ratio at its own size: 300×200 in a box of 400×400 becomes 200×200.
  /// - `fill` gives exactly the box; a side of the image that is shorter than the box's stays as it is.
  ///
  /// - Parameter isDrawing: Whether the image is a vector drawing, which is rendered at a multiple of its size that is
  ///   no smaller than the box.
  package init(source upright: PixelSize, variant: Variant, isDrawing: Bool = false) {
    let framing = variant.framing
    let times =
      isDrawing
      ? max(
        1, (variant.size.width + upright.width - 1) / upright.width,
        (variant.size.height + upright.height - 1) / upright.height) : 1
    func drawn(_ size: PixelSize) -> PixelSize { PixelSize(size.width * times, size.height * times) }
    source = drawn(upright)
    lacksCrop = framing.crop.map { !$0.isWithin(upright) } ?? false
    let crop = lacksCrop ? nil : framing.crop
    let start = crop?.corner(in: upright) ?? (x: 0, y: 0)
    region = PixelRectangle(x: start.x * times, y: start.y * times, size: drawn(crop?.size ?? upright))

    let sizes = Sizes(of: region.size, variant)
    output = sizes.output
    // The crop by content is cut from the view of the whole image.
    let soughtCrop = crop.flatMap { $0.gravity.isByContent ? $0.gravity : nil }
    if soughtCrop != nil { region = PixelRectangle(x: 0, y: 0, size: source) }
    let (across, down) = (sizes.across, sizes.down)
    view = PixelSize(across.reduced.of(region.size.width), down.reduced.of(region.size.height))
    let cut = PixelSize(across.cut(output.width, of: view.width), down.cut(output.height, of: view.height))
    whole = PixelSize(
      Self.share(of: source.width, view.width, region.size.width),
      Self.share(of: source.height, view.height, region.size.height))
    let gravity = soughtCrop ?? variant.gravity
    let focus = soughtCrop == nil ? framing.focus : nil
    if gravity.isByContent, focus == nil, cut != view { search = gravity }
    let corner = focus?.corner(of: cut, in: view) ?? gravity.corner(of: cut, in: view)
    cutRectangle = PixelRectangle(x: corner.x, y: corner.y, size: cut)
  }

  /// `length` times `part` / `all`, rounded up; `part` is at most `all`. A drawing's sides are so long that the product
  /// would not fit into a word.
  private static func share(of length: Int, _ part: Int, _ all: Int) -> Int {
    let (quotient, remainder) = all.dividingFullWidth(length.multipliedFullWidth(by: part))
    return remainder > 0 ? quotient + 1 : quotient
  }
}

/// How the sizes of a thumbnail follow from that of the image's part.
private struct Sizes {
  /// A factor as a fraction, so that products are exact if the result is a half.
  struct Ratio {
    var over: Double
    var under: Double

    static let one = Ratio(over: 1, under: 1)

    var value: Double { over / under }
    /// The factor, but at most 1.
    var reduced: Ratio { value < 1 ? self : .one }

    func of(_ length: Int) -> Int { max(1, Int(bounded: Double(length) * over / under)) }
    /// The length that becomes `length` if it is enlarged.
    func cut(_ length: Int, of most: Int) -> Int {
      min(most, value <= 1 ? length : max(1, Int(bounded: Double(length) * under / over)))
    }
  }

  /// The factors that the image's part is multiplied by.
  private(set) var across: Ratio
  private(set) var down: Ratio
  /// The size of the thumbnail.
  private(set) var output: PixelSize

  init(of part: PixelSize, _ variant: Variant) {
    let (framing, box) = (variant.framing, variant.size)
    let longest = PixelSize.longestThumbnailSide
    // Without a framing, a side of the greatest length is an ordinary limit.
    let mayBeOpen = framing != Framing()
    let open = (width: mayBeOpen && box.width == longest, height: mayBeOpen && box.height == longest)
    // An open side is as long as the image's.
    let wanted = PixelSize(open.width ? part.width : box.width, open.height ? part.height : box.height)
    let isAlike = (part.width >= part.height) == (wanted.width >= wanted.height)
    let fit = variant.fit == .auto ? (isAlike ? Fit.cover : .contain) : variant.fit
    across = Ratio(over: Double(wanted.width), under: Double(part.width))
    down = Ratio(over: Double(wanted.height), under: Double(part.height))
    if fit != .fill {
      let isWidth =
        open.width || open.height ? open.height : (across.value < down.value) == (fit == .contain)
      if isWidth { down = across } else { across = down }
    }
    let keepsShape = !variant.enlarges && !framing.enlargesUnlessBoth
    if keepsShape {
      (across, down) = (across.reduced, down.reduced)
    } else if !variant.enlarges, open.width || part.width < box.width, open.height || part.height < box.height {
      (across, down) = (.one, .one)
    }
    let scaled = PixelSize(across.of(part.width), down.of(part.height))
    let aim = PixelSize(open.width ? scaled.width : box.width, open.height ? scaled.height : box.height)
    output = PixelSize(min(aim.width, scaled.width), min(aim.height, scaled.height))
    if fit == .cover, keepsShape, !open.width, !open.height, output != aim { output = Self.contained(aim, in: scaled) }
  }

  /// `size` scaled up or down to the largest that fits into `box`.
  private static func contained(_ size: PixelSize, in box: PixelSize) -> PixelSize {
    // Compares aspect ratios without division; the products stay far below 63 bits for sides within the limits.
    if size.width * box.height >= size.height * box.width {
      return PixelSize(box.width, Ratio(over: Double(box.width), under: Double(size.width)).of(size.height))
    }
    return PixelSize(Ratio(over: Double(box.height), under: Double(size.height)).of(size.width), box.height)
  }
}
