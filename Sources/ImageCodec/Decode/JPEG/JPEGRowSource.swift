import CJPEG
import ThumbnailCore

/// Decodes a JPEG with libjpeg-turbo, at 1/1, 1/2, 1/4 or 1/8: luma and chroma as they are stored, RGB, or inks.
final class JPEGRowSource: RowSource {
  /// The number of rows of RGB or inks decoded at a time.
  private static let rowsAtOnce = 16

  let layout: RowLayout
  private let jpeg: JPEGDecompressor
  private let isTolerant: Bool
  /// Whether an end marker was added.
  private let lacksEnd: Bool
  /// The channels that libjpeg converts to: 3 for RGB, 4 for inks; 0 for planes as they are stored.
  private let channels: Int
  /// A buffer for each plane.
  private var buffers: [UnsafeMutablePointer<UInt8>]
  /// The rows of each plane handed on so far.
  private var rowsGiven: [Int]

  /// Reads the header and prepares to decode at 1/`reduction`: 1, 2, 4 or 8.
  ///
  /// With `isTolerant`, missing data is filled with mid-grey, and damage accepted. Otherwise libjpeg's warnings of it
  /// are errors, as the coefficient reader's findings are. `profile` is the file's.
  ///
  /// With `convertsColours` luma and chroma become RGB at full resolution, each pixel within its range.
  ///
  /// - Throws: `.unsupported` for other colour spaces; `.truncated`, `.damaged`, `.unreadableBody`.
  init(
    _ body: BodyReader, size: PixelSize, profile: [UInt8]?, reduction: Int, isTolerant: Bool,
    convertsColours: Bool = false
  ) throws(CodecError) {
    (self.isTolerant, lacksEnd) = (isTolerant, body.addsEnding)
    jpeg = try JPEGDecompressor(body, isTolerant: isTolerant)
    guard jpeg.size == size else {
      throw .damaged(.header, detail: "the header says \(size), the decoder \(jpeg.size)")
    }
    switch jpeg.space {
    case JCS_GRAYSCALE: channels = 0
    case JCS_YCbCr: channels = convertsColours ? 3 : 0
    case JCS_RGB: channels = 3
    case JCS_CMYK, JCS_YCCK: channels = 4
    default: throw .unsupported("a JPEG of unknown colours")
    }
    let pointer = jpeg.pointer
    guard cjpeg_start(pointer, Int32(8 / reduction), channels == 0 ? 1 : 0) == 0 else { throw jpeg.failure(.decode) }
    if jpeg.space == JCS_YCbCr, channels == 0 {
      layout = RowLayout(planes: jpeg.planes, profile: profile)
    } else if channels == 4 {
      // Without partial pixels at the edges, as in libvips.
      let whole = PixelSize(max(1, size.width / reduction), max(1, size.height / reduction))
      var rows = RowLayout(size: whole, channels: 4, profile: profile)
      (rows.colour, rows.hasAlpha) = (.cmyk, false)
      layout = rows
    } else {
      var rows = RowLayout(size: jpeg.outputSize, channels: max(1, channels), profile: profile)
      rows.planes[0].extent = PixelExtent(
        width: Double(size.width) / Double(reduction), height: Double(size.height) / Double(reduction))
      layout = rows
    }
    buffers =
      channels > 0
      ? [.allocate(capacity: jpeg.outputSize.width * channels * Self.rowsAtOnce)]
      : (0..<Int32(layout.planes.count)).map { index in
        .allocate(capacity: Int(cjpeg_rows(pointer, index) * cjpeg_row_length(pointer, index)))
      }
    rowsGiven = Array(repeating: 0, count: buffers.count)
  }

  deinit { for buffer in buffers { buffer.deallocate() } }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    let hasRows = channels > 0 ? try readPixels(receive) : try readPlanes(receive)
    // A warning about the last rows is counted with them.
    if jpeg.hasWarnings, !isTolerant {
      throw lacksEnd
        ? .truncated(detail: "a block is missing") : .damaged(.decode, detail: "the coded data make no sense")
    }
    return hasRows
  }

  private func readPixels(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    let stride = jpeg.outputSize.width * channels
    let read = Int(cjpeg_read_rows(jpeg.pointer, buffers[0], stride, Int32(Self.rowsAtOnce)))
    guard read >= 0 else { throw jpeg.failure(.decode) }
    let count = min(read, layout.planes[0].size.height - rowsGiven[0])
    rowsGiven[0] += count
    if count == 0 { return false }
    let rows = buffers[0]
    // As in Adobe's programs, which say how little ink there is; others take all files so.
    if channels == 4 { for index in 0..<count * stride { rows[index] = ~rows[index] } }
    try receive(RowBand(start: UnsafeRawPointer(rows), stride: stride, count: count))
    return true
  }

  private func readPlanes(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    let result = buffers.withUnsafeMutableBufferPointer { cjpeg_read_planes(jpeg.pointer, $0.baseAddress) }
    guard result >= 0 else { throw jpeg.failure(.decode) }
    if result == 1 { return false }
    for (plane, buffer) in buffers.enumerated() {
      let rows = Int(cjpeg_rows(jpeg.pointer, Int32(plane)))
      let count = min(rows, layout.planes[plane].size.height - rowsGiven[plane])
      rowsGiven[plane] += rows
      guard count > 0 else { continue }
      let stride = Int(cjpeg_row_length(jpeg.pointer, Int32(plane)))
      try receive(RowBand(plane: plane, start: UnsafeRawPointer(buffer), stride: stride, count: count))
    }
    return true
  }
}
