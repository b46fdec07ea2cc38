import ThumbnailCore

/// Decodes a frame of a GIF with our own LZW decoder, as libvips' gifload does with `fail_on=error`.
///
/// Holds some rows of the image and the code table, and the indices of the whole frame only if it is interlaced.
final class GIFRowSource: RowSource {
  /// The most colour indices decoded at a time.
  private static let bandIndices = 32_768

  let layout: RowLayout
  private let frame: GIFFrame
  private let decoder: LZWDecoder
  private let channels: Int
  /// The stored pixel of each index: zeros for the transparent one, and no alpha if the image has no such channel.
  private let palette: [UInt32]
  private let rowsPerBand: Int
  /// Rows of the image, and one byte more: three channels are stored four bytes at a time. Never written outside the
  /// frame, so the rest stays black, or transparent with alpha.
  private let band: UnsafeMutableRawBufferPointer
  /// The indices from `firstIndex` of the frame on, in the order of the file: `heldIndices` of them.
  private let indices: UnsafeMutableRawBufferPointer
  private var firstIndex = 0
  private var heldIndices = 0
  private var nextRow = 0

  /// - Throws: `.handedOver` for files that libvips should read, `.damaged(.header, …)` if the file is not the probed
  ///   one, `.truncated`, `.unreadableBody`.
  convenience init(_ body: ByteSource, probe: ImageProbe) throws(CodecError) {
    let bytes = GIFBytes(body)
    let palette = try GIFFrame.commonPalette(bytes)
    let frame = try GIFFrame(bytes, canvas: probe.storedSize, palette: palette)
    // Pixels outside the frame are transparent.
    try self.init(bytes, frame, hasAlpha: frame.transparentIndex != nil || !frame.coversCanvas)
  }

  /// Decodes the frame whose data follows.
  init(_ bytes: GIFBytes, _ frame: GIFFrame, hasAlpha isTransparent: Bool) throws(CodecError) {
    self.frame = frame
    let canvas = frame.canvas
    channels = isTransparent ? 4 : 3
    layout = RowLayout(size: canvas, channels: channels)
    decoder = LZWDecoder(bytes, codeSize: frame.codeSize)
    let colours = isTransparent ? UInt32.max : 0xFF_FFFF
    var palette = frame.palette.map { $0 & colours }
    if let index = frame.transparentIndex { palette[index] = 0 }
    self.palette = palette
    rowsPerBand = Self.rowsPerBand(canvas)
    band = .allocate(byteCount: rowsPerBand * canvas.width * channels + 1, alignment: 16)
    band.initializeMemory(as: UInt8.self, repeating: 0)
    let held = frame.isInterlaced ? frame.size.pixelCount : rowsPerBand * frame.size.width
    indices = .allocate(byteCount: held + LZWDecoder.overshoot, alignment: 16)
  }

  deinit {
    band.deallocate()
    indices.deallocate()
  }

  /// The most bytes that reading a GIF takes, without its body.
  static func peakBytes(of probe: ImageProbe) -> Int {
    let size = probe.storedSize
    let band = rowsPerBand(size) * size.width
    return 200_000 + 4 * band + (probe.isProgressive ? size.pixelCount : band)
  }

  private static func rowsPerBand(_ size: PixelSize) -> Int {
    max(1, min(size.height, bandIndices / max(1, size.width)))
  }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    guard nextRow < frame.canvas.height, let start = band.baseAddress else { return false }
    let rows = nextRow..<min(frame.canvas.height, nextRow + rowsPerBand)
    let inFrame = rows.clamped(to: frame.top..<frame.top + frame.size.height)
    if !inFrame.isEmpty { try decode(upTo: inFrame.upperBound - frame.top) }
    let stride = frame.canvas.width * channels
    for row in rows {
      let place = UnsafeMutableRawBufferPointer(rebasing: band[(row - rows.lowerBound) * stride..<band.count])
      if inFrame.contains(row) {
        paint(row - frame.top, into: UnsafeMutableRawBufferPointer(rebasing: place[(frame.left * channels)...]))
      } else {
        UnsafeMutableRawBufferPointer(rebasing: place[..<stride]).initializeMemory(as: UInt8.self, repeating: 0)
      }
    }
    // libvips refuses a frame whose data has no end, even if all pixels are there.
    if rows.upperBound == frame.canvas.height { try decoder.finish() }
    try receive(RowBand(start: UnsafeRawPointer(start), stride: stride, count: rows.count))
    nextRow = rows.upperBound
    return true
  }

  /// Decodes the frame's rows before `row`, all of them if it is interlaced, and drops those before the ones held.
  private func decode(upTo row: Int) throws(CodecError) {
    guard let output = indices.baseAddress else { return }
    let width = frame.size.width
    if frame.isInterlaced {
      heldIndices = try decoder.expand(into: output, from: heldIndices, wanted: frame.size.pixelCount)
      return
    }
    let used = max(0, min(heldIndices, (nextRow - frame.top) * width - firstIndex))
    output.copyMemory(from: output + used, byteCount: heldIndices - used)
    firstIndex += used
    heldIndices -= used
    // At most the rows of a band: those before `nextRow` are dropped, unless the data has ended.
    let wanted = min(row * width - firstIndex, indices.count - LZWDecoder.overshoot)
    heldIndices = try decoder.expand(into: output, from: heldIndices, wanted: wanted)
  }

  /// Writes the colours of one row of the frame. Missing pixels stay black or transparent.
  private func paint(_ row: Int, into target: UnsafeMutableRawBufferPointer) {
    let width = frame.size.width
    let start = (frame.isInterlaced ? frame.interlacedPlace(of: row) : row) * width - firstIndex
    let count = max(0, min(width, heldIndices - start))
    let source = UnsafeRawBufferPointer(indices)
    palette.withUnsafeBufferPointer { palette in
      // The palette has 256 colours. The row's own pixels are within both buffers. With three channels the last store
      // writes a zero one byte further, into a pixel that is written later or into the buffer's last byte.
      guard let from = source.baseAddress, let to = target.baseAddress, let palette = palette.baseAddress,
        count == 0 || start >= 0 && start + count <= source.count && count * channels < target.count + channels - 3
      else { return }
      let indices = from + start
      if channels == 3 {
        for x in 0..<count {
          let colour = palette[Int(indices.load(fromByteOffset: x, as: UInt8.self))]
          to.storeBytes(of: colour.littleEndian, toByteOffset: 3 &* x, as: UInt32.self)
        }
      } else {
        for x in 0..<count {
          let colour = palette[Int(indices.load(fromByteOffset: x, as: UInt8.self))]
          to.storeBytes(of: colour.littleEndian, toByteOffset: 4 &* x, as: UInt32.self)
        }
      }
    }
    // Clears the pixels of an earlier band.
    if count < width {
      UnsafeMutableRawBufferPointer(rebasing: target[count * channels..<width * channels])
        .initializeMemory(as: UInt8.self, repeating: 0)
    }
  }
}

extension GIFFrame {
  /// The place of an interlaced frame's row in the file: every eighth row comes first, then the rows between them in
  /// three more passes.
  fileprivate func interlacedPlace(of row: Int) -> Int {
    let (first, second, third) = ((size.height + 7) / 8, (size.height + 3) / 8, (size.height + 1) / 4)
    return switch row % 8 {
    case 0: row / 8
    case 4: first + row / 8
    case 2, 6: first + second + row / 4
    default: first + second + third + row / 2
    }
  }
}
