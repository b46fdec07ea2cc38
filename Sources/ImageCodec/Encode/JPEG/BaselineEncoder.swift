import FoundationEssentials
import Glibc
import ThumbnailCore

/// Encodes pixels as a baseline JPEG with halved chroma, in fewer bytes than libjpeg-turbo for the same look.
///
/// The quantisers follow the eye more closely than the standard's, weak coefficients in textured surroundings become 0,
/// and the Huffman codes are made for the image. For the codes all blocks must be known, so tokens of 4 bytes are kept
/// for each coefficient that is not 0: 1 to 2 bytes a pixel, at most `mostTokenBytes`.
final class BaselineEncoder {
  /// The meaning of the samples.
  enum Samples {
    case gray, rgb, ycc
  }

  /// The most bytes of tokens of a pixel, in noise.
  static let mostTokenBytes = 6

  /// The tokens of a chunk: below the size from which malloc asks the system for each block.
  private static let chunkLength = 1 << 14
  /// The most tokens of an MCU.
  private static let mostOfMCU = 6 * BlockCoder.mostTokens

  private let size: PixelSize
  private let samples: Samples
  private let quantisers: [QuantiserTable]
  /// The width in samples of luma: whole MCUs.
  private let padded: Int
  /// The bytes of a row of luma, and of a row of halved chroma, which are pairs.
  private let rowBytes: Int
  private let order = ZigzagOrder.shared

  private let memory: UnsafeMutableRawPointer
  private let block: UnsafeMutableRawPointer
  /// How halved chroma is scaled.
  private let scaling: UnsafeMutablePointer<Int16>
  /// The rows of luma of an MCU, and the next one.
  private let luma: UnsafeMutablePointer<Int16>
  /// Chroma halved across: the row before those of an MCU, its rows, and the next one.
  private let halved: UnsafeMutableRawPointer
  /// The chroma of an MCU's rows: a plane for each of both components.
  private let chroma: UnsafeMutablePointer<Int16>
  private let even: UnsafeMutableRawPointer
  private let odd: UnsafeMutableRawPointer
  private let words: UnsafeMutablePointer<UInt32>
  /// For each of four tables, DC and AC of luma and of chroma: how often each symbol occurs, then its code.
  private let counts: UnsafeMutablePointer<UInt32>
  private let entries: UnsafeMutablePointer<UInt32>

  /// The mean number of tokens of the last blocks of luma that have AC coefficients, in 256ths.
  private var activity = 8 << 8
  /// How textured the surroundings of an MCU are, for `BlockCoder`.
  private var texture = 0

  private var chunks: [UnsafeMutableBufferPointer<UInt32>] = []
  /// The place of the next token in the last chunk, and the first after which there may be no room for an MCU.
  private var next: UnsafeMutablePointer<UInt32>
  private var last: UnsafeMutablePointer<UInt32>

  private init(_ size: PixelSize, _ samples: Samples, quality: Int) {
    (self.size, self.samples) = (size, samples)
    quantisers = EncodingQuality(quality, size: size, isGray: samples == .gray).quantisers
    let mcu = samples == .gray ? 8 : 16
    padded = (size.width + mcu - 1) / mcu * mcu
    rowBytes = 2 * padded
    let margin = 16
    // 17 rows of luma, 18 of halved chroma, 8 of two planes, one of even and odd chroma, and one of words.
    memory = UnsafeMutableRawPointer.allocate(
      byteCount: 8192 + 128 + 32 + (17 + 18 + 8 + 2 + 2) * rowBytes + 4 * margin, alignment: 16)
    counts = memory.assumingMemoryBound(to: UInt32.self)
    counts.update(repeating: 0, count: 1024)
    entries = counts + 1024
    block = memory + 8192
    scaling = (block + 128).assumingMemoryBound(to: Int16.self)
    ColourRows.writeScaling(of: samples, to: scaling)
    luma = scaling + 16
    halved = block + 128 + 32 + 17 * rowBytes
    chroma = (halved + 18 * rowBytes).assumingMemoryBound(to: Int16.self)
    even = halved + 26 * rowBytes + margin
    odd = even + rowBytes + 2 * margin
    words = (odd + rowBytes + margin).assumingMemoryBound(to: UInt32.self)
    (next, last) = (counts, counts)
  }

  deinit {
    memory.deallocate()
    for chunk in chunks { chunk.deallocate() }
  }

  /// The file of an image, whose rows have no padding.
  ///
  /// - Parameters:
  ///   - quality: 1 to 89.
  ///   - header: The first segments.
  static func encode(
    _ pixels: UnsafePointer<UInt8>, _ size: PixelSize, _ samples: Samples, quality: Int, header: JPEGFileHeader
  ) -> Data {
    let encoder = BaselineEncoder(size, samples, quality: quality)
    if samples == .gray { encoder.readGray(pixels) } else { encoder.readColours(pixels) }
    return encoder.file(after: header)
  }

  // MARK: Blocks

  private func readGray(_ pixels: UnsafePointer<UInt8>) {
    var previous = 0
    for top in stride(from: 0, to: size.height, by: 8) {
      for row in 0..<8 {
        let y = min(top + row, size.height - 1)
        ColourRows.convertGray(
          pixels + y * size.width, count: size.width, padded: padded, luma: luma + row * padded)
      }
      for x in stride(from: 0, to: padded, by: 8) {
        beginUnit()
        encode(luma + x, stride: padded, 0, &previous)
      }
    }
  }

  private func readColours(_ pixels: UnsafePointer<UInt8>) {
    var previous = (0, 0, 0)
    // The first rows where the last ones of an MCU before would be; the row before the first is the first itself.
    convert(pixels, 0, to: 16)
    memcpy(halved + 16 * rowBytes, halved + 17 * rowBytes, rowBytes)
    for top in stride(from: 0, to: size.height, by: 16) {
      memcpy(luma, luma + 16 * padded, rowBytes)
      memcpy(halved, halved + 16 * rowBytes, 2 * rowBytes)
      for row in 1...16 { convert(pixels, min(top + row, size.height - 1), to: row) }
      halveChroma()
      for x in stride(from: 0, to: padded, by: 16) {
        beginUnit()
        encode(luma + x, stride: padded, 0, &previous.0)
        encode(luma + x + 8, stride: padded, 0, &previous.0)
        encode(luma + 8 * padded + x, stride: padded, 0, &previous.0)
        encode(luma + 8 * padded + x + 8, stride: padded, 0, &previous.0)
        encode(chroma + x / 2, stride: padded / 2, 1, &previous.1)
        encode(chroma + 4 * padded + x / 2, stride: padded / 2, 2, &previous.2)
      }
    }
  }

  /// Converts the row `y` to a row of the MCU, and halves its chroma across.
  private func convert(_ pixels: UnsafePointer<UInt8>, _ y: Int, to row: Int) {
    ColourRows.expand(pixels + 3 * y * size.width, count: size.width, padded: padded, into: words)
    let luma = UnsafeMutableRawPointer(luma + row * padded)
    if samples == .rgb {
      ColourRows.convertRGB(words, count: padded, luma: luma, even: even, odd: odd)
    } else {
      ColourRows.convertYCC(words, count: padded, luma: luma, even: even, odd: odd)
    }
    // Both ends go on as they are.
    (odd - 4).copyMemory(from: even, byteCount: 4)
    (even + rowBytes).copyMemory(from: odd + rowBytes - 4, byteCount: 4)
    ColourRows.halveRow(even: even, odd: odd, bytes: rowBytes, into: halved + (row + 1) * rowBytes)
  }

  private func halveChroma() {
    for row in 0..<8 {
      let blue = UnsafeMutableRawPointer(chroma + row * padded / 2)
      let red = blue + 4 * rowBytes
      ColourRows.halveRows(
        halved + 2 * row * rowBytes, bytes: rowBytes, scaling, first: samples == .rgb ? red : blue,
        second: samples == .rgb ? blue : red)
    }
  }

  /// Prepares for an MCU: makes room for its tokens.
  private func beginUnit() {
    // An edge of few coefficients hides nothing in smooth surroundings. From 23 tokens a block, texture hides the most.
    texture = max(0, min(BlockCoder.wholeTexture, (activity - (7 << 8)) >> 4))
    guard next >= last else { return }
    closeChunk()
    let chunk = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: Self.chunkLength)
    chunks.append(chunk)
    next = chunk.baseAddress ?? next
    last = next + (Self.chunkLength - Self.mostOfMCU)
  }

  /// Shortens the last chunk to the tokens in it.
  private func closeChunk() {
    guard let chunk = chunks.popLast(), let start = chunk.baseAddress else { return }
    chunks.append(UnsafeMutableBufferPointer(start: start, count: next - start))
  }

  private func encode(_ samples: UnsafePointer<Int16>, stride: Int, _ component: Int, _ previous: inout Int) {
    let start = next
    next = BlockCoder.encode(
      samples, stride: stride, quantisers[min(component, 1)].memory, block: block, previous: &previous,
      table: component == 0 ? 0 : 0x200, texture: texture, order, counts: counts, into: next)
    let count = next - start
    if component == 0, count > 2 { activity += ((count << 8) - activity) >> 5 }
  }

  // MARK: The file

  private func file(after first: JPEGFileHeader) -> Data {
    closeChunk()
    let components = samples == .gray ? 1 : 3
    var header = first
    header.addQuantisers(quantisers.map(\.steps))
    header.addFrame(size, components: components)
    var bits = 0
    let codes = (0..<2 * min(components, 2)).map { table in
      let (counts, entries) = (counts + 256 * table, entries + 256 * table)
      let code = HuffmanCode(counts)
      code.write(into: entries)
      for symbol in code.symbols { bits += Int(counts[Int(symbol)]) * Int(entries[Int(symbol)] >> 27) }
      return code
    }
    header.addCodes(codes)
    header.addScan(components: components)
    // Twice the bytes of the codes, in case that all are ones, and the end.
    let file = UnsafeMutablePointer<UInt8>.allocate(capacity: header.bytes.count + bits / 4 + 16)
    defer { file.deallocate() }
    file.update(from: header.bytes, count: header.bytes.count)
    var writer = EntropyWriter(file + header.bytes.count)
    for chunk in chunks { writer.write(UnsafeBufferPointer(chunk), entries) }
    writer.finish()
    writer.next.update(from: JPEGFileHeader.end, count: 2)
    return Data(bytes: file, count: writer.next + 2 - file)
  }
}
