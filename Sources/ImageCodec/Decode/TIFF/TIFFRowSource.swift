import CTIFF
import ThumbnailCore

/// Decodes the first page of a TIFF with libtiff: whole bytes a sample, gray, RGB, CMYK and palette, in strips or tiles.
///
/// Holds a strip, a row of tiles or some rows. Orientation is not applied.
final class TIFFRowSource: RowSource {
  /// The most bytes of rows that are passed at once, and that are read at once row by row.
  private static let bandBytes = 131_072

  let layout: RowLayout
  private let file: TIFFFile
  private let directory: TIFFDirectory
  /// The rows of the current block as stored, `blockRows` of `directory.rowBytes`.
  private let block: UnsafeMutableRawBufferPointer
  private let blockRows: Int
  /// One tile, or one plane's strip; empty for whole strips.
  private let part: UnsafeMutableRawBufferPointer
  /// The converted rows of a band; empty if the block's rows need no conversion.
  private let converted: UnsafeMutableRawBufferPointer
  private var samples: TIFFSamples
  private let rowsPerBand: Int
  /// The rows in the block; rows before `nextRow` have been passed.
  private var held = 0..<0
  private var nextRow = 0
  private let isTolerant: Bool
  /// The columns whose tiles are read, and the rows at the top that are not read.
  private var columns: Range<Int>
  private var blankRows = 0

  /// - Throws: `.handedOver` for files that libvips should read, `.damaged(.header, …)`, `.truncated`,
  ///   `.unreadableBody`.
  init(_ body: ByteSource, probe: ImageProbe, isTolerant: Bool = false) throws(CodecError) {
    file = try TIFFFile(body, mostBytes: Self.mostBytes(probe.blockBytes, bodyLength: body.count))
    let directory = try TIFFDirectory(
      file, expecting: probe.storedSize, namesExtraSamples: probe.hasAlpha == true)
    self.directory = directory
    columns = 0..<directory.size.width
    self.isTolerant = isTolerant
    if isTolerant, directory.isPlain { throw .handedOver(reason: "damage within a strip") }
    let bandRows = max(1, min(directory.size.height, Self.bandBytes / directory.rowBytes))
    samples = directory.samples
    let partPixel = directory.isPlanar ? samples.kind.bytes : directory.pixelBytes
    var partBytes = 0
    switch directory.blocks {
    case .strips(let rows):
      blockRows = min(rows, directory.size.height)
      if directory.isPlanar { partBytes = blockRows * directory.size.width * partPixel }
    case .scanlines: blockRows = bandRows
    case .colours(let rows): blockRows = min(rows, directory.size.height)
    case .tiles(let size):
      blockRows = min(size.height, directory.size.height)
      partBytes = size.pixelCount * partPixel
    }
    rowsPerBand = min(bandRows, blockRows)
    // Zeros, so that nothing of the process' memory gets into an image.
    func zeros(_ count: Int) -> UnsafeMutableRawBufferPointer {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
      buffer.initializeMemory(as: UInt8.self, repeating: 0)
      return buffer
    }
    block = zeros(blockRows * directory.rowBytes)
    part = zeros(partBytes)
    let sampleBytes = samples.rowSampleBytes
    let isStored = directory.palette == nil && samples.isIdentity
    converted = zeros(isStored ? 0 : rowsPerBand * directory.size.width * directory.channels * sampleBytes)
    var layout = RowLayout(
      size: directory.size, channels: directory.channels, sample: sampleBytes == 2 ? .uint16 : .uint8,
      profile: file.profile)
    layout.hasAlpha = samples.alpha != .none
    if samples.isInk { layout.colour = .cmyk }
    // A profile of linear light describes samples that are not encoded for display.
    if samples.isLinear { layout.storedProfile = nil }
    self.layout = layout
    if samples.needsRanges { try measure() }
  }

  deinit {
    block.deallocate()
    part.deallocate()
    converted.deallocate()
  }

  /// Finds black and white of floating-point samples, from all of them.
  private func measure() throws(CodecError) {
    var found = Array(repeating: (least: Float.infinity, greatest: -Float.infinity), count: samples.channels)
    while nextRow < directory.size.height {
      try readBlock()
      if let start = block.baseAddress { samples.extend(&found, start, count: held.count * directory.size.width) }
      nextRow = held.upperBound
    }
    samples.ranges = samples.ranges(for: found)
    (held, nextRow) = (0..<0, 0)
  }

  /// The most bytes that libtiff may allocate at once: a compressed strip or tile, or a decoded one.
  private static func mostBytes(_ blockBytes: Int, bodyLength: Int) -> Int {
    (16 << 20) + max(bodyLength, min(2 * min(blockBytes, 1 << 40), 256 << 20))
  }

  func limit(to windows: [PixelRectangle]) {
    columns = windows[0].columns
    let step = if case .scanlines(let start) = directory.blocks { start } else { blockRows }
    blankRows = windows[0].y / step * step
  }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    guard nextRow < directory.size.height, let start = block.baseAddress else { return false }
    if nextRow < blankRows {
      (nextRow, held) = (blankRows, blankRows..<blankRows)
      try receive(.blank(count: blankRows))
      return true
    }
    if nextRow == held.upperBound { try readBlock() }
    let rows = nextRow..<min(held.upperBound, nextRow + rowsPerBand)
    // Within the block: `rows` is a part of `held`, which has at most `blockRows`.
    var first = start + (rows.lowerBound - held.lowerBound) * directory.rowBytes
    var stride = directory.rowBytes
    if let target = converted.baseAddress, !converted.isEmpty {
      stride = directory.size.width * directory.channels * samples.rowSampleBytes
      let count = rows.count * directory.size.width
      if let palette = directory.palette {
        expand(first, count: count, palette, into: target)
      } else {
        samples.convert(first, count: count, into: target)
      }
      first = target
    }
    try receive(RowBand(start: UnsafeRawPointer(first), stride: stride, count: rows.count))
    nextRow = rows.upperBound
    return true
  }

  /// Reads the block that begins at `nextRow`.
  private func readBlock() throws(CodecError) {
    guard let target = block.baseAddress else { return }
    let rows = nextRow..<min(directory.size.height, nextRow + blockRows)
    switch directory.blocks {
    case .strips(let stripRows):
      // libtiff writes a whole strip, which `TIFFDirectory` has found to be no longer than a block. With a given length
      // it would ignore the length in the file, unlike libvips.
      let (strip, stripsOfPlane) = (nextRow / stripRows, (directory.size.height + stripRows - 1) / stripRows)
      if !directory.isPlanar { try readStrip(strip, into: target) }
      for sample in 0..<(directory.isPlanar ? samples.stored : 0) {
        guard let source = part.baseAddress else { return }
        try readStrip(sample * stripsOfPlane + strip, into: source)
        // The rows of a plane and the rows of the block lie one after the other.
        place(source, rows.count * directory.size.width, sample, at: target)
      }
    case .scanlines:
      for row in rows {
        // libtiff writes `TIFFScanlineSize` bytes, which is `rowBytes`.
        let place = target + (row - rows.lowerBound) * directory.rowBytes
        guard TIFFReadScanline(file.handle, place, UInt32(truncatingIfNeeded: row), 0) >= 0 else {
          throw file.failure("row \(row)")
        }
      }
    case .colours:
      // A row has four bytes a pixel, which is `rowBytes`.
      let pixels = target.assumingMemoryBound(to: UInt32.self)
      guard
        ctiff_read_colours(file.handle, UInt32(nextRow), UInt32(directory.size.width), UInt32(rows.count), pixels) != 0
      else { throw file.failure("row \(nextRow)") }
    case .tiles(let size):
      let first = columns.lowerBound / size.width * size.width
      for left in Swift.stride(from: first, to: columns.upperBound, by: size.width) {
        try readTile(size, left: left, rows: rows, into: target)
      }
    }
    if !isTolerant { try file.checkCodes() }
    held = rows
  }

  private func readStrip(_ strip: Int, into target: UnsafeMutableRawPointer) throws(CodecError) {
    guard TIFFReadEncodedStrip(file.handle, UInt32(truncatingIfNeeded: strip), target, -1) >= 0 else {
      throw file.failure("strip \(strip)")
    }
  }

  /// Reads a tile, or one of each plane, and copies its part within the image to its place in the block.
  private func readTile(
    _ size: PixelSize, left: Int, rows: Range<Int>, into target: UnsafeMutableRawPointer
  ) throws(CodecError) {
    guard let source = part.baseAddress else { return }
    // The tile has at least as many rows as the block, and the columns from `left` on that are in the image.
    let columns = min(size.width, directory.size.width - left)
    for sample in 0..<(directory.isPlanar ? samples.stored : 1) {
      let number = TIFFComputeTile(
        file.handle, UInt32(left), UInt32(rows.lowerBound), 0, UInt16(truncatingIfNeeded: sample))
      // A whole tile, which `TIFFDirectory` has found to be as long as the buffer.
      guard TIFFReadEncodedTile(file.handle, number, source, -1) >= 0 else {
        throw file.failure("tile \(number)")
      }
      for row in 0..<rows.count {
        let there = target + row * directory.rowBytes + left * directory.pixelBytes
        if directory.isPlanar {
          place(source + row * size.width * samples.kind.bytes, columns, sample, at: there)
        } else {
          there.copyMemory(
            from: source + row * size.width * directory.pixelBytes, byteCount: columns * directory.pixelBytes)
        }
      }
    }
  }

  /// Interleaves one sample of each of `count` pixels.
  private func place(
    _ plane: UnsafeMutableRawPointer, _ count: Int, _ sample: Int, at target: UnsafeMutableRawPointer
  ) {
    let (bytes, pixel) = (samples.kind.bytes, directory.pixelBytes)
    for index in 0..<count {
      (target + index * pixel + sample * bytes).copyMemory(from: plane + index * bytes, byteCount: bytes)
    }
  }

  /// Writes the colours of `count` indices; `target` has room for that many pixels, and the palette has 256 colours.
  private func expand(
    _ indices: UnsafeMutableRawPointer, count: Int, _ palette: [[UInt8]], into target: UnsafeMutableRawPointer
  ) {
    let channels = directory.channels
    let colours = palette.flatMap(\.self)
    colours.withUnsafeBufferPointer { colours in
      for place in 0..<count {
        let index = Int(indices.load(fromByteOffset: place, as: UInt8.self))
        for channel in 0..<channels {
          target.storeBytes(
            of: colours[index * channels + channel], toByteOffset: place * channels + channel, as: UInt8.self)
        }
      }
    }
  }
}
