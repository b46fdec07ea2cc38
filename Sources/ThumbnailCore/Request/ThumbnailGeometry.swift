/// The geometry of a thumbnail. All sizes are those of the image when it is upright and turned, unless said otherwise.
///
/// A part of the image, `region`, is reduced to `view`; a part of that, `cut`, is kept and enlarged to `frame` if need
/// be; and the frame lies on `output`. So nothing large is ever enlarged.
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
  /// The place of the part on the thumbnail, in the size to which it is enlarged, if it is.
  package private(set) var frameRectangle: PixelRectangle
  /// The size of the thumbnail.
  package private(set) var output: PixelSize
  /// The size of the whole image that a decoder would have to deliver for the view: upright, but not turned.
  package private(set) var whole: PixelSize

  /// The size of the part of the view that is kept.
  package var cut: PixelSize { cutRectangle.size }
  /// The size to which that part is enlarged.
  package var frame: PixelSize { frameRectangle.size }
  /// Whether anything is cropped from the view.
  package var crops: Bool { cut != view }
  /// Whether the image is enlarged.
  package var enlarges: Bool { frame != cut }

  /// Whether strangers may request it: at most this many pixels, and not enlarged, because then a small image costs
  /// much.
  package func isForStrangers(_ mostPixels: Int) -> Bool { output.pixelCount <= mostPixels && !enlarges }

  /// The geometry of a variant of an image of this upright size.
  ///
  /// - `contain` keeps the image's aspect ratio, rounded to whole pixels, at least 1.
  /// - `cover` gives exactly the box if the image is large enough. Otherwise, unless its `Framing` says otherwise, the
  ///   image is cropped to the box's aspect ratio at its own size: 300×200 in a box of 400×400 becomes 200×200.
  /// - `fill` gives exactly the box; a side of the image that is shorter than the box's stays as it is.
  ///
  /// - Parameter isDrawing: Whether the image is a vector drawing, which is rendered at a multiple of its size that is
  ///   no smaller than the box.
  package init(source upright: PixelSize, variant: Variant, isDrawing: Bool = false) {
    let framing = variant.framing
    let turned = framing.turn.upright(upright)
    let times =
      isDrawing
      ? max(
        1, (variant.size.width + turned.width - 1) / turned.width,
        (variant.size.height + turned.height - 1) / turned.height) : 1
    func drawn(_ size: PixelSize) -> PixelSize { PixelSize(size.width * times, size.height * times) }
    source = drawn(turned)
    let part = framing.crop?.size(in: turned) ?? turned
    let seeks = framing.crop?.placement.isByContent == true
    let start = framing.crop.map { $0.placement.corner(of: part, in: turned, scale: (1, 1)) } ?? (x: 0, y: 0)
    lacksCrop = framing.crop.map { $0.isStrict && !$0.isWithin(turned) } ?? false
    region = PixelRectangle(x: start.x * times, y: start.y * times, size: drawn(part))

    let sizes = Sizes(of: region.size, variant)
    let frame = sizes.window
    output = sizes.canvas ?? frame
    let place = framing.canvas?.placement.corner(of: frame, in: output, scale: (sizes.density, sizes.density))
    func padded(_ length: Int) -> Int { Int((Double(length) * sizes.density).rounded(.toNearestOrEven)) }
    let padding = framing.padding
    frameRectangle = PixelRectangle(
      x: (place?.x ?? 0) + padded(padding.left), y: (place?.y ?? 0) + padded(padding.top), size: frame)
    output.width += padded(padding.left) + padded(padding.right)
    output.height += padded(padding.top) + padded(padding.bottom)

    // The crop by content is cut from the view of the whole image.
    if seeks { region = PixelRectangle(x: 0, y: 0, size: source) }
    let (across, down) = (sizes.across, sizes.down)
    view = PixelSize(across.reduced.of(region.size.width), down.reduced.of(region.size.height))
    let cut = PixelSize(across.cut(frame.width, of: view.width), down.cut(frame.height, of: view.height))
    whole = framing.turn.stored(
      PixelSize(
        Self.share(of: source.width, view.width, region.size.width),
        Self.share(of: source.height, view.height, region.size.height)))
    let kept = (seeks ? framing.crop?.placement : framing.placement) ?? .gravity(variant.gravity)
    if case .gravity(let gravity, _, _) = kept, kept.isByContent, cut != view { search = gravity }
    let corner = kept.corner(
      of: cut, in: view, scale: (sizes.density / max(1, across.value), sizes.density / max(1, down.value)))
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

    func times(_ factor: Double) -> Ratio { Ratio(over: over * factor, under: under) }
    func divided(by other: Ratio) -> Ratio { Ratio(over: over * other.under, under: under * other.over) }
    func of(_ length: Int) -> Int { max(1, Int(bounded: Double(length) * over / under)) }
    /// The length that becomes `length` if it is enlarged.
    func cut(_ length: Int, of most: Int) -> Int {
      min(most, value <= 1 ? length : max(1, Int(bounded: Double(length) * under / over)))
    }
  }

  /// The factors that the image's part is multiplied by.
  private(set) var across: Ratio
  private(set) var down: Ratio
  /// The device pixels per CSS pixel for which the image has enough pixels.
  private(set) var density: Double
  /// The size of the part that is kept.
  private(set) var window: PixelSize
  /// The size of the canvas; nil if it has none.
  private(set) var canvas: PixelSize?

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
    across = across.times(framing.zoom.x)
    down = down.times(framing.zoom.y)
    density = framing.density

    var hasCanvas = framing.canvas != nil
    let greater = across.value > down.value ? across : down
    if variant.enlarges {
      // Without a limit.
    } else if framing.shortfall == .enlargesUnlessBoth {
      if open.width || part.width < box.width, open.height || part.height < box.height {
        (across, down, hasCanvas) = (.one, .one, false)
      }
    } else {
      if framing.shortfall == .keepsShape {
        (across, down) = (across.reduced, down.reduced)
      } else if greater.value > 1 {
        (across, down) = (across.divided(by: greater), down.divided(by: greater))
      }
      if greater.value > 1, framing.canvas?.extent != .box { density *= greater.value }
      density = min(density, 1 / max(across.value, down.value))
    }
    if Double(framing.minimum.width) > across.value * Double(part.width) {
      let least = Ratio(over: Double(framing.minimum.width), under: Double(part.width))
      (across, down) = (least, down.times(least.value / across.value))
    }
    if Double(framing.minimum.height) > down.value * Double(part.height) {
      let least = Ratio(over: Double(framing.minimum.height), under: Double(part.height))
      (across, down) = (across.times(least.value / down.value), least)
    }
    (across, down) = (across.times(density), down.times(density))

    let scaled = PixelSize(across.of(part.width), down.of(part.height))
    let times = Framing.Scale(density * framing.zoom.x, density * framing.zoom.y)
    let aim = PixelSize(
      open.width ? scaled.width : max(1, Int(bounded: Double(box.width) * times.x)),
      open.height ? scaled.height : max(1, Int(bounded: Double(box.height) * times.y)))
    window = PixelSize(min(aim.width, scaled.width), min(aim.height, scaled.height))
    if fit == .cover, framing.shortfall == .keepsShape, !variant.enlarges, !open.width, !open.height, window != aim {
      window = Self.contained(aim, in: scaled)
    }
    guard hasCanvas, let wanted = framing.canvas else { return }
    canvas = wanted.extent == .box ? aim : open.width || open.height ? window : Self.containing(window, shape: aim)
  }

  /// `size` scaled up or down to the largest that fits into `box`.
  private static func contained(_ size: PixelSize, in box: PixelSize) -> PixelSize {
    // Compares aspect ratios without division; the products stay far below 63 bits for sides within the limits.
    if size.width * box.height >= size.height * box.width {
      return PixelSize(box.width, Ratio(over: Double(box.width), under: Double(size.width)).of(size.height))
    }
    return PixelSize(Ratio(over: Double(box.height), under: Double(size.height)).of(size.width), box.height)
  }

  /// `size` with one side extended to an aspect ratio.
  private static func containing(_ size: PixelSize, shape: PixelSize) -> PixelSize {
    if size.width * shape.height > size.height * shape.width {
      return PixelSize(size.width, Ratio(over: Double(shape.height), under: Double(shape.width)).of(size.width))
    }
    return PixelSize(Ratio(over: Double(shape.width), under: Double(shape.height)).of(size.height), size.height)
  }
}
