import CVips
package import FoundationEssentials
package import ThumbnailCore

/// A contact sheet: a grid of small images with captions, as one large JPEG.
///
/// Cells are added one by one. The cells of the current row are in memory; earlier rows are pixels in an unnamed file,
/// and are encoded from there, so memory does not grow with the number of cells. Use it on one thread at a time, of a
/// pool that calls `Codec.threadWillEnd()`.
package struct Montage {
  /// The content of a cell.
  package struct Cell {
    /// The image, at most as large as `box`; nil for none.
    var picture: Raster?
    /// The lines of text below it.
    var caption: [String]
    /// Whether text and border are red.
    var isFailure = false

    package init(picture: Raster? = nil, caption: [String], isFailure: Bool = false) {
      self.picture = picture
      self.caption = caption
      self.isFailure = isFailure
    }
  }

  static let columns = 10
  private static let fewestColumns = 3
  /// The box that an image fits into, in pixels.
  package static let box = PixelSize(160, 160)
  private static let captionLines = 3
  /// The height of a caption, and of the line at the bottom with the gap above it, in pixels.
  private static let captionHeight = 48
  private static let footHeight = 38
  /// The approximate number of characters per line.
  private static let lineLength = 24
  private static let padding = 6
  private static let gap = 6
  /// The width of the edge of a failure.
  private static let edge = 2
  /// The size of a cell without the gap around it, in pixels.
  static let cellSize = PixelSize(box.width + 2 * padding, box.height + 3 * padding + captionHeight)
  static let width = columns * (cellSize.width + gap) + gap

  private static let ground = RGBColor(red: 0xEE, green: 0xEE, blue: 0xEE)
  private static let ink = RGBColor(red: 0x22, green: 0x22, blue: 0x22)
  private static let red = RGBColor(red: 0xBB, green: 0, blue: 0)

  private let file: FileDescriptor
  /// The cells of the current row.
  private var row: [Raster] = []
  private var cells = 0
  /// The height of the rows in the file, in pixels.
  private var height = 0

  /// An empty montage. `scratch` is an empty file for its pixels, 1.2 MB per ten cells.
  package init(scratch: FileDescriptor) { file = scratch }

  /// Appends a cell.
  package mutating func add(_ cell: Cell) throws(MontageFailure) {
    row.append(
      try Self.codec { () throws(CodecError) in
        try Codec.start()
        return try Self.drawn(cell)
      })
    cells += 1
    if row.count == Self.columns { try endRow() }
  }

  /// The montage as a JPEG, with a line of text at the bottom. No cell can be added afterwards.
  package mutating func finish(_ foot: String) throws(MontageFailure) -> Data {
    if !row.isEmpty { try endRow() }
    try write { () throws(CodecError) in
      try Codec.start()
      return try Self.text([foot], Self.ink, on: Self.ground, width: 0)
        .placed(x: Self.gap + Self.padding, y: 14, in: PixelSize(Self.width, Self.footHeight), Self.ground)
    }
    return try Self.codec { () throws(CodecError) in
      // libvips blocks this loader as unsafe for untrusted data; these pixels are our own.
      vips_operation_block_set("VipsForeignLoadRaw", 0)
      let picture = try LibvipsImage.make(.encode) {
        cvips_load_raw("/proc/self/fd/\(file.rawValue)", $0, Int32(Self.width), Int32(height), 3)
      }
      .applying(.encode) { cvips_reinterpret($0, $1, VIPS_INTERPRETATION_sRGB) }
      .cropped(to: PixelRectangle(x: 0, y: 0, size: PixelSize(usedWidth, height)))
      // With effort 0 libjpeg encodes in one pass; otherwise it holds the coefficients of the whole image.
      let variant = Variant(size: Self.box, quality: 85, effort: 0)
      return try Encoder.save(picture, as: .jpeg, variant: variant, keeps: false)
    }
  }

  /// The width used by a montage of less than a row, with room for the bottom line.
  private var usedWidth: Int {
    Self.gap + min(max(cells, Self.fewestColumns), Self.columns) * (Self.cellSize.width + Self.gap)
  }

  // MARK: Rows

  /// Joins the cells of the row, and writes them with the gap above them.
  private mutating func endRow() throws(MontageFailure) {
    let row = row
    self.row = []
    try write { () throws(CodecError) in
      var pictures: [LibvipsImage] = []
      for cell in row { pictures.append(try cell.image()) }
      var pointers = pictures.map { Optional($0.pointer) }
      let joined = try LibvipsImage.make(.encode) {
        cvips_join_across(&pointers, Int32(pointers.count), $0, Int32(Self.gap), Self.ground.samples)
      }
      return try joined.placed(
        x: Self.gap, y: Self.gap, in: PixelSize(Self.width, Self.cellSize.height + Self.gap), Self.ground)
    }
    // The pictures borrow the cells' pixels.
    withExtendedLifetime(row) {}
  }

  /// Computes the pixels of a part of the full width, and writes them below the others.
  private mutating func write(_ part: () throws(CodecError) -> LibvipsImage) throws(MontageFailure) {
    let pixels = try Self.codec { () throws(CodecError) in try Raster(computing: part()) }
    let result = try Self.codec { () throws(CodecError) in
      pixels.withBytes { bytes in
        Result { () throws(SystemFailure) in try NewFile.write(bytes, to: file.rawValue) }
      }
    }
    do throws(SystemFailure) { try result.get() } catch { throw .file(error) }
    height += pixels.size.height
  }

  private static func codec<Value>(_ body: () throws(CodecError) -> Value) throws(MontageFailure) -> Value {
    do throws(CodecError) { return try body() } catch { throw .codec(error) }
  }

  // MARK: Cells

  /// The image above its caption; without one, the text takes the whole cell.
  private static func drawn(_ cell: Cell) throws(CodecError) -> Raster {
    let hasPicture = cell.picture != nil
    let lines = hasPicture ? shortened(cell.caption.prefix(captionLines)) : cell.caption.map(breakable)
    let top = hasPicture ? box.height + 2 * padding : padding
    // Longer text is cut off at the padding.
    let room = PixelSize(box.width, cellSize.height - top - edge)
    var drawn = try text(lines, cell.isFailure ? red : ink, on: .white, width: hasPicture ? 0 : box.width)
      .placed(x: 0, y: 0, in: room, .white)
      .placed(x: padding, y: top, in: cellSize, .white)
    // libvips borrows its pixels until the cell is computed.
    defer { withExtendedLifetime(cell) {} }
    if let image = cell.picture {
      let picture = try image.image()
      let x = (cellSize.width - image.size.width) / 2
      let y = padding + (box.height - image.size.height) / 2
      drawn = try drawn.applying(.encode) { cvips_insert($0, $1, picture.pointer, Int32(x), Int32(y)) }
    }
    if cell.isFailure {
      let inner = PixelSize(cellSize.width - 2 * edge, cellSize.height - 2 * edge)
      drawn = try drawn.cropped(to: PixelRectangle(x: edge, y: edge, size: inner))
        .placed(x: edge, y: edge, in: cellSize, red)
    }
    return try Raster(computing: drawn)
  }

  /// Lines of text; without ink if libvips was built without text support.
  private static func text(
    _ lines: [String], _ ink: RGBColor, on ground: RGBColor, width: Int
  ) throws(CodecError) -> LibvipsImage {
    let markup = lines.map(markup).joined(separator: "\n")
    var mask = try LibvipsImage.make(.encode) { cvips_black($0) }
    if markup.contains(where: { !$0.isWhitespace }), Codec.hasOperation("text") {
      mask = (try? LibvipsImage.make(.encode) { cvips_text($0, markup, "sans 9", Int32(width)) }) ?? mask
      vips_error_clear()
    }
    return try mask.applying(.encode) { cvips_tint($0, $1, ink.samples, ground.samples) }
  }

  /// The lines, each cut to its length: a path, which only the first can be, at its front, as its end tells more.
  static func shortened(_ lines: some Sequence<String>) -> [String] {
    lines.enumerated().map { number, line in
      if line.count <= lineLength { return line }
      return number == 0 && line.contains("/") ? "…" + line.suffix(lineLength - 1) : line.prefix(lineLength - 1) + "…"
    }
  }

  /// The text with words that are too long for a line cut into several.
  private static func breakable(_ text: String) -> String {
    text.split(separator: " ").map { word in
      stride(from: 0, to: word.count, by: lineLength).map { word.dropFirst($0).prefix(lineLength) }
        .joined(separator: " ")
    }.joined(separator: " ")
  }

  /// The text escaped for Pango markup, without control characters.
  private static func markup(_ text: String) -> String {
    var markup = ""
    for scalar in text.unicodeScalars.prefix(400) {
      switch scalar {
      case "&": markup += "&amp;"
      case "<": markup += "&lt;"
      case ">": markup += "&gt;"
      default:
        let isControl = scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
        markup.unicodeScalars.append(isControl ? " " : scalar)
      }
    }
    return markup
  }
}

extension LibvipsImage {
  /// The image within a larger one of one colour, clipped to that.
  fileprivate func placed(x: Int, y: Int, in size: PixelSize, _ colour: RGBColor) throws(CodecError) -> LibvipsImage {
    try applying(.encode) {
      cvips_embed($0, $1, Int32(x), Int32(y), Int32(size.width), Int32(size.height), colour.samples)
    }
  }
}

extension RGBColor {
  fileprivate var samples: [Double] { [red, green, blue].map { Double($0) } }
}

/// Why a montage could not be made.
package enum MontageFailure: Error {
  case file(SystemFailure)
  case codec(CodecError)
}
