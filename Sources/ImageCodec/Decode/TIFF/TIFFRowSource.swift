import CTIFF
import ThumbnailCore

/// Decodes the first page of a TIFF, or a smaller copy of it, with libtiff: 8 and 16 bits, gray, RGB and palette, in
/// strips or tiles.
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
  /// One tile; empty for strips.
  private let tile: UnsafeMutableRawBufferPointer
  /// The rows of a band where a palette makes them longer; else empty.
  private let expanded: UnsafeMutableRawBufferPointer
  private let rowsPerBand: Int
  /// The rows that are in the block now, of which those before `nextRow` have been passed.
  private var held = 0..<0
  private var nextRow = 0

  /// The image itself, or one of its levels.
  ///
  /// - Throws: `.handedOver` for what libvips should read, `.damaged(.header, …)`, `.truncated`, `.unreadableBody`.
  init(_ body: ByteSource, probe: ImageProbe, level: TIFFLevel? = nil) throws(CodecError) {
    let blockBytes = level?.blockBytes ?? probe.blockBytes
    let mostBytes = Self.mostBytes(blockBytes, bodyLength: body.count)
    file = try TIFFFile(body, mostBytes: mostBytes, readsLaterDirectory: level != nil)
    var profile = file.profile
    if let level {
      try file.open(directory: level.position)
      profile = file.profile ?? profile
    }
    let directory = try TIFFDirectory(file, expecting: level?.size ?? probe.storedSize)
    self.directory = directory
    let bandRows = max(1, min(directory.size.height, Self.bandBytes / directory.rowBytes))
    var tileBytes = 0
    switch directory.blocks {
    case .strips(let rows): blockRows = min(rows, directory.size.height)
    case .scanlines: blockRows = bandRows
    case .tiles(let size):
      blockRows = min(size.height, directory.size.height)
      tileBytes = size.pixelCount * directory.samples * directory.sampleBytes
    }
    rowsPerBand = min(bandRows, blockRows)
    // Zeros, so that nothing of the process' memory gets into an image.
    func zeros(_ count: Int) -> UnsafeMutableRawBufferPointer {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
      buffer.initializeMemory(as: UInt8.self, repeating: 0)
      return buffer
    }
    block = zeros(blockRows * directory.rowBytes)
    tile = zeros(tileBytes)
    expanded = zeros(directory.palette == nil ? 0 : rowsPerBand * directory.size.width * directory.channels)
    layout = RowLayout(
      size: directory.size, channels: directory.channels, sample: directory.sampleBytes == 2 ? .uint16 : .uint8,
      profile: profile)
  }

  deinit {
    block.deallocate()
    tile.deallocate()
    expanded.deallocate()
  }

  /// The most bytes that libtiff may allocate at once: a compressed strip or tile, or a decoded one.
  private static func mostBytes(_ blockBytes: Int, bodyLength: Int) -> Int {
    (16 << 20) + max(bodyLength, min(2 * min(blockBytes, 1 << 40), 256 << 20))
  }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    guard nextRow < directory.size.height else { return false }
    if nextRow == held.upperBound { try readBlock() }
    let rows = nextRow..<min(held.upperBound, nextRow + rowsPerBand)
    guard let start = block.baseAddress else { return false }
    // Within the block: `rows` is a part of `held`, which has at most `blockRows`.
    var first = start + (rows.lowerBound - held.lowerBound) * directory.rowBytes
    var stride = directory.rowBytes
    if let palette = directory.palette, let target = expanded.baseAddress {
      stride = directory.size.width * directory.channels
      expand(first, count: rows.count * directory.size.width, palette, into: target)
      first = target
    } else if directory.isMinWhite {
      invert(first, count: rows.count * directory.size.width)
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
      // libtiff writes a whole strip, which `TIFFDirectory` has found to be no longer than a block. If it were told the
      // length, it would ignore the one in the file, unlike in libvips.
      let strip = UInt32(truncatingIfNeeded: nextRow / stripRows)
      guard TIFFReadEncodedStrip(file.handle, strip, target, -1) >= 0 else {
        throw file.failure("strip \(strip)")
      }
    case .scanlines:
      for row in rows {
        // libtiff writes `TIFFScanlineSize` bytes, which is `rowBytes`.
        let place = target + (row - rows.lowerBound) * directory.rowBytes
        guard TIFFReadScanline(file.handle, place, UInt32(truncatingIfNeeded: row), 0) >= 0 else {
          throw file.failure("row \(row)")
        }
      }
    case .tiles(let size):
      for left in Swift.stride(from: 0, to: directory.size.width, by: size.width) {
        try readTile(size, left: left, rows: rows, into: target)
      }
    }
    held = rows
  }

  /// Reads a tile, and copies what of it lies in the image to its place in the block.
  private func readTile(
    _ size: PixelSize, left: Int, rows: Range<Int>, into target: UnsafeMutableRawPointer
  ) throws(CodecError) {
    guard let source = tile.baseAddress else { return }
    let number = TIFFComputeTile(file.handle, UInt32(left), UInt32(rows.lowerBound), 0, 0)
    // A whole tile, which `TIFFDirectory` has found to be as long as the buffer.
    guard TIFFReadEncodedTile(file.handle, number, source, -1) >= 0 else {
      throw file.failure("tile \(number)")
    }
    let pixel = directory.samples * directory.sampleBytes
    // The tile has at least as many rows as the block, and the columns from `left` on that are in the image.
    let length = min(size.width, directory.size.width - left) * pixel
    for row in 0..<rows.count {
      (target + row * directory.rowBytes + left * pixel)
        .copyMemory(from: source + row * size.width * pixel, byteCount: length)
    }
  }

  /// Exchanges black and white of `count` pixels; alpha stays.
  private func invert(_ pixels: UnsafeMutableRawPointer, count: Int) {
    if directory.sampleBytes == 2 {
      let samples = pixels.assumingMemoryBound(to: UInt16.self)
      for index in 0..<count { samples[index * directory.samples] = ~samples[index * directory.samples] }
    } else {
      let samples = pixels.assumingMemoryBound(to: UInt8.self)
      for index in 0..<count { samples[index * directory.samples] = ~samples[index * directory.samples] }
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
