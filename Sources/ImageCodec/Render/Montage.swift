import CVips
package import Foundation
package import ThumbnailCore

/// A contact sheet: a grid of small images with captions, as one large JPEG.
///
/// Cells are added one by one. The current row is in memory; earlier rows are pixels in an unnamed file, and are
/// encoded from there, so memory does not grow with the number of cells. To be used on one thread at a time, of a pool
/// that calls `Codec.threadWillEnd()`.
package struct Montage {
  /// The content of a cell.
  package struct Cell {
    /// The bytes of an image file that is read in process; nil for none.
    var picture: [UInt8]?
    /// The lines of text below it.
    var caption: [String]
    /// Whether text and border are red.
    var isFailure = false

    package init(picture: [UInt8]? = nil, caption: [String], isFailure: Bool = false) {
      self.picture = picture
      self.caption = caption
      self.isFailure = isFailure
    }
  }

  static let columns = 10
  private static let fewestColumns = 3
  /// The box that an image fits into, in pixels.
  static let box = PixelSize(160, 160)
  private static let lineHeight = 16
  private static let captionLines = 3
  /// The most lines in a cell without an image.
  private static let longestText = 13
  /// The approximate number of characters per line.
  private static let lineLength = 24
  private static let padding = 6
  private static let gap = 6
  /// The size of a cell without the gap around it, in pixels.
  static let cellSize = PixelSize(box.width + 2 * padding, box.height + 3 * padding + captionLines * lineHeight)
  static let width = columns * (cellSize.width + gap) + gap
  private static let rowHeight = cellSize.height + gap

  private static let ground = RGBColor(red: 0xEE, green: 0xEE, blue: 0xEE)
  private static let ink = RGBColor(red: 0x22, green: 0x22, blue: 0x22)
  private static let red = RGBColor(red: 0xBB, green: 0, blue: 0)

  private let file: FileDescriptor
  /// The current row.
  private var row: PixelCanvas
  private var cellsInRow = 0
  private var cells = 0
  /// The height of the rows in the file, in pixels.
  private var height = 0

  /// An empty montage. `scratch` is an empty file for its pixels, 1.4 MB per ten cells.
  package init(scratch: FileDescriptor) throws(SystemFailure) {
    file = scratch
    row = PixelCanvas(width: Self.width, height: Self.rowHeight, colour: Self.ground)
    try write(PixelCanvas(width: Self.width, height: Self.gap, colour: Self.ground))
  }

  /// Appends a cell. An image that cannot be read leaves its box empty.
  ///
  /// - Throws: When the file cannot be written.
  package mutating func add(_ cell: Cell) throws(SystemFailure) {
    let x = Self.gap + cellsInRow * (Self.cellSize.width + Self.gap)
    row.fill(x: x, y: 0, size: Self.cellSize, colour: cell.isFailure ? Self.red : .white)
    if cell.isFailure {
      let inner = PixelSize(Self.cellSize.width - 4, Self.cellSize.height - 4)
      row.fill(x: x + 2, y: 2, size: inner, colour: .white)
    }
    if let bytes = cell.picture, let raster = try? Raster(reading: bytes, within: Self.box) {
      let left = x + (Self.cellSize.width - raster.size.width) / 2
      row.draw(raster, x: left, y: Self.padding + (Self.box.height - raster.size.height) / 2)
    }
    let colour = cell.isFailure ? Self.red : Self.ink
    let top = cell.picture == nil ? Self.padding : Self.box.height + 2 * Self.padding
    let lines = cell.picture == nil ? cell.caption.flatMap(Self.wrapped) : cell.caption.map(Self.shortened)
    for (index, line) in lines.prefix(cell.picture == nil ? Self.longestText : Self.captionLines).enumerated() {
      write(line, x: x + Self.padding, y: top + index * Self.lineHeight, colour: colour)
    }
    cells += 1
    cellsInRow += 1
    if cellsInRow == Self.columns { try endRow() }
  }

  /// The montage as a JPEG, with a line of text at the bottom. No cell can be added afterwards.
  package mutating func finish(_ foot: String) throws(MontageFailure) -> Data {
    do throws(SystemFailure) {
      if cellsInRow > 0 { try endRow() }
      row = PixelCanvas(width: Self.width, height: 2 * Self.lineHeight, colour: Self.ground)
      write(foot, x: Self.gap + Self.padding, y: Self.lineHeight / 2, colour: Self.ink)
      try write(row)
    } catch {
      throw .file(error)
    }
    do throws(CodecError) {
      try Codec.start()
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
    } catch {
      throw .codec(error)
    }
  }

  /// The width used by a montage of less than a row, with room for the bottom line.
  private var usedWidth: Int {
    Self.gap + min(max(cells, Self.fewestColumns), Self.columns) * (Self.cellSize.width + Self.gap)
  }

  private mutating func endRow() throws(SystemFailure) {
    try write(row)
    row = PixelCanvas(width: Self.width, height: Self.rowHeight, colour: Self.ground)
    cellsInRow = 0
  }

  private mutating func write(_ canvas: PixelCanvas) throws(SystemFailure) {
    try NewFile.write(canvas.samples, to: file.rawValue)
    height += canvas.height
  }

  /// Draws a line of text, unless libvips was built without text support.
  private mutating func write(_ text: String, x: Int, y: Int, colour: RGBColor) {
    guard !text.isEmpty, (try? Codec.start()) != nil, Codec.hasOperation("text") else { return }
    defer { vips_error_clear() }
    let markup = Self.markup(text)
    let mask = try? LibvipsImage.make(.encode) { cvips_text($0, markup, "sans 9") }
    guard let mask, let raster = try? Raster(computing: mask), raster.bands == 1 else { return }
    row.stain(through: raster, x: x, y: y, widest: Self.cellSize.width - 2 * Self.padding, colour: colour)
  }

  /// A text cut to one line.
  private static func shortened(_ text: String) -> String {
    text.count <= lineLength ? text : text.prefix(lineLength - 1) + "…"
  }

  /// The text wrapped into lines between words, and within words that are too long.
  private static func wrapped(_ text: String) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      var rest = word[...]
      while !rest.isEmpty {
        let room = lineLength - (lines.last?.isEmpty ?? true ? 0 : (lines.last?.count ?? 0) + 1)
        if rest.count <= room {
          lines[lines.count - 1] += (lines.last?.isEmpty ?? true ? "" : " ") + rest
          rest = ""
        } else if lines.last?.isEmpty ?? true {
          lines[lines.count - 1] = String(rest.prefix(lineLength))
          rest = rest.dropFirst(lineLength)
          lines.append("")
        } else {
          lines.append("")
        }
      }
    }
    return lines
  }

  /// The text escaped for Pango markup, without control characters.
  private static func markup(_ text: String) -> String {
    var markup = ""
    for scalar in text.unicodeScalars.prefix(200) {
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

/// Why a montage could not be made.
package enum MontageFailure: Error {
  case file(SystemFailure)
  case codec(CodecError)
}
