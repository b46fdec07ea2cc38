import Glibc
import ThumbnailCore

/// Decodes a PNG row by row, as libvips does, in the memory of two rows and some buffers; an interlaced PNG takes the
/// memory of all its pixels.
///
/// Files that libpng reads by rules of its own are handed over.
final class PNGRowSource: RowSource {
  let layout: RowLayout

  private let size: PixelSize
  private let samples: PNGSamples
  private let chunks: PNGChunkReader
  private let inflater: PNGInflater
  private let preamble: PNGPreamble
  /// The rows as stored; for an interlaced image the rows of the current pass.
  private var rows: PNGRowBuffer
  /// Owned: converted rows; nil if rows are handed on as stored.
  private let converted: UnsafeMutableRawBufferPointer?
  /// Owned: the whole of an interlaced image.
  private var image: UnsafeMutableRawPointer?
  /// Whether the current rows are the stream's last.
  private var isLastPass = true
  /// The number of rows passed on.
  private var passed = 0

  /// The bytes of converted rows that a band has room for, unless one row takes more.
  private static let bandBytes = 65_536

  /// Reads everything before the pixels.
  ///
  /// - Throws: `.handedOver` for a PNG that libvips must read; `.truncated`, `.damaged` or `.unreadableBody`.
  init(_ body: ByteSource, probe: ImageProbe) throws(CodecError) {
    guard probe.format == .png else { throw .handedOver(reason: "no PNG") }
    chunks = PNGChunkReader(body)
    preamble = try PNGPreamble(chunks)
    size = preamble.size
    guard size == probe.storedSize else {
      throw .damaged(.header, detail: "the header says \(size), the probe \(probe.storedSize)")
    }
    inflater = try PNGInflater()
    samples = PNGSamples(preamble)
    layout = RowLayout(
      size: size, channels: samples.channels, sample: samples.sampleBytes == 2 ? .uint16 : .uint8,
      profile: preamble.profile)
    rows = Self.buffer(preamble, preamble.size)
    let row = size.width * samples.channels * samples.sampleBytes
    converted =
      samples.convert
      ? .allocate(byteCount: max(Self.bandBytes, row) + PNGSamples.margin, alignment: 16) : nil
  }

  deinit {
    converted?.deallocate()
    free(image)
  }

  private static func buffer(_ preamble: PNGPreamble, _ size: PixelSize) -> PNGRowBuffer {
    PNGRowBuffer(
      rowBytes: preamble.rowBytes(size.width), pixelBytes: max(1, preamble.pixelBits / 8), rowCount: size.height)
  }

  /// An upper bound of the memory that decoding takes, in bytes.
  static func peakBytes(of probe: ImageProbe) -> Int {
    let row = probe.storedSize.width * 4 * ((max(8, probe.bitsPerSample) + 7) / 8)
    return PNGRowBuffer.bytes(rowBytes: row) + max(bandBytes, row) + PNGChunkReader.windowBytes
      + 2 * PNGInflater.stateBytes + 2 * PNGColourSpace.longestProfile
  }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    guard passed < size.height else { return false }
    let stride = size.width * samples.channels * samples.sampleBytes
    if preamble.isInterlaced {
      let image = try readPasses()
      passed = size.height
      try receive(RowBand(start: UnsafeRawPointer(image), stride: stride, count: size.height, isLasting: true))
      return true
    }
    let most = converted == nil ? Int.max : max(1, Self.bandBytes / stride)
    while rows.wholeRows == 0 { try inflate() }
    let band = try rows.takeRows(atMost: most)
    passed += band.count
    guard let target = converted?.baseAddress else {
      try receive(band)
      return true
    }
    for row in 0..<band.count {
      samples.convert(band.start + row * band.stride, width: size.width, into: target + row * stride)
    }
    try receive(RowBand(start: UnsafeRawPointer(target), stride: stride, count: band.count))
    return true
  }

  /// The first pixel of each pass, and the distances between its pixels (PNG, 8.2).
  private static let passes: [(x: Int, y: Int, across: Int, down: Int)] = [
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
  ]

  /// Reads all passes of an interlaced image, and puts their pixels in place.
  private func readPasses() throws(CodecError) -> UnsafeMutableRawPointer {
    let pixel = samples.channels * samples.sampleBytes
    // Zeros, so that nothing of the process' memory gets into an image.
    guard let start = calloc(size.pixelCount, pixel) else { throw .outOfMemory }
    image = start
    let passes = Self.passes.filter { $0.x < size.width && $0.y < size.height }
    for (index, pass) in passes.enumerated() {
      let width = (size.width - pass.x + pass.across - 1) / pass.across
      let height = (size.height - pass.y + pass.down - 1) / pass.down
      (rows, isLastPass) = (Self.buffer(preamble, PixelSize(width, height)), index == passes.count - 1)
      for row in 0..<height {
        while rows.wholeRows == 0 { try inflate() }
        var source = UnsafeRawPointer(try rows.takeRows(atMost: 1).start)
        if let converted = converted?.baseAddress {
          samples.convert(source, width: width, into: converted)
          source = UnsafeRawPointer(converted)
        }
        // Within the image: the last pixel of a pass lies before the row's end.
        var target = start + ((pass.y + row * pass.down) * size.width + pass.x) * pixel
        for _ in 0..<width {
          target.copyMemory(from: source, byteCount: pixel)
          source += pixel
          target += pass.across * pixel
        }
      }
    }
    return start
  }

  /// Inflates as many rows as there is room for, and checks the stream's end behind the last one.
  private func inflate() throws(CodecError) {
    let (chunks, inflater) = (chunks, inflater)
    try rows.fill { target throws(CodecError) in
      try inflater.inflate(into: target) { () throws(CodecError) in try Self.nextPiece(chunks) }
    }
    if rows.isComplete {
      if isLastPass { try checkEnd() }
      return
    }
    if inflater.isDone && rows.wholeRows == 0 {
      throw inflater.isDamaged ? Self.damagedPixels : Self.tooFewPixels
    }
  }

  /// The next bytes of pixels, at least one.
  private static func nextPiece(_ chunks: PNGChunkReader) throws(CodecError) -> UnsafeRawBufferPointer {
    while true {
      let piece = try chunks.data()
      if !piece.isEmpty { return piece }
      guard try chunks.finish() else { throw wrongCRC }
      guard try chunks.next().type == .data else { throw tooFewPixels }
    }
  }

  // MARK: The end

  /// The most bytes behind the last row that are inflated to find the stream's end.
  private static let longestExcess = 16 << 20

  /// Checks the rest as libpng does: no damage directly behind the last row; one more piece of a stream that has not
  /// ended; the stream's end if there are more pixels than rows; the right CRC.
  private func checkEnd() throws(CodecError) {
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    defer { scratch.deallocate() }
    var excess = inflater.inflateRest(into: scratch)
    if inflater.isDamaged && excess == 0 { throw Self.damagedPixels }
    var pieces = 0
    while !inflater.isDone && excess < Self.longestExcess {
      var more = inflater.inflateRest(into: scratch)
      if more == 0 && !inflater.isDone {
        if excess == 0 && pieces == 1 { break }
        pieces += 1
        more = inflater.inflate(piece: try Self.nextPiece(chunks), into: scratch)
      }
      excess += more
    }
    guard try chunks.finish() else { throw Self.wrongCRC }
  }

  private static let damagedPixels = CodecError.damaged(.decode, detail: "damaged pixels")
  private static let tooFewPixels = CodecError.damaged(.decode, detail: "not enough pixels")
  private static let wrongCRC = CodecError.damaged(.decode, detail: "the CRC of its pixels is wrong")
}
