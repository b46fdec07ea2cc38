@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

/// The loops over samples whose results do not depend on the processor's vectors.
@Suite(.timeLimit(.minutes(5))) struct VectorLoopsTests {
  /// The new rows of noise in a plane.
  private func resampled(
    _ from: PixelSize, to target: PixelSize, channels: Int, isWide: Bool, usesAVX2: Bool
  ) throws -> [[Int16]] {
    var random = SplitMix(state: UInt64(from.width * 7919 + target.width * 31 + channels))
    var samples: [UInt8] = (0..<from.pixelCount * channels * 2).map { _ in
      [0, 255, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
    }
    if isWide {
      for index in stride(from: 0, to: samples.count, by: 2) {
        let sample = UInt16(samples[index]) << 6
        (samples[index], samples[index + 1]) = (UInt8(sample & 255), UInt8(sample >> 8))
      }
    }
    let plane = RowLayout(size: from, channels: channels).planes[0]
    let resampler = try RowResampler(
      plane, isWide: isWide, region: nil, target: target, part: PixelRectangle(x: 0, y: 0, size: target),
      usesAVX2: usesAVX2)
    var rows: [[Int16]] = []
    let stride = from.width * channels * (isWide ? 2 : 1)
    samples.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      resampler.take(RowBand(start: start, stride: stride, count: from.height), isLasting: true) { _, row in
        rows.append(Array(UnsafeBufferPointer(start: row, count: target.width * channels)))
      }
    }
    return rows
  }

  @Test(.enabled(if: SampleVectors.hasAVX2), arguments: 1...4, [false, true])
  func resamplingIsTheSameWithAVX2(_ channels: Int, _ isWide: Bool) throws {
    for (from, to) in ResamplerTests.sizes where to.width <= from.width && to.height <= from.height {
      let rows = try [true, false].map {
        try resampled(from, to: to, channels: channels, isWide: isWide, usesAVX2: $0)
      }
      #expect(rows[0].count == to.height && rows[0] == rows[1], "\(from) to \(to)")
    }
    for width in [15, 16, 17, 31, 33, 47, 64, 100] {
      for target in [7, 8, 9, 15, 16, 17, 50] where target <= width {
        let (from, to) = (PixelSize(width, 13), PixelSize(target, 6))
        let rows = try [true, false].map {
          try resampled(from, to: to, channels: channels, isWide: isWide, usesAVX2: $0)
        }
        #expect(rows[0].count == 6 && rows[0] == rows[1], "\(from) to \(to)")
      }
    }
  }

  @Test func interleavedRowsAreThoseOfSinglePixels() {
    var random = SplitMix(state: 5)
    for count in [1, 15, 16, 17, 32, 47, 100] {
      let planes = (0..<3).map { _ in (0..<count).map { _ in Int16.random(in: -6000...22_000, using: &random) } }
      func interleaved(_ step: Int) -> [UInt8] {
        var pixels: [UInt8] = Array(repeating: 0, count: 3 * count)
        planes[0].withUnsafeBufferPointer { a in
          planes[1].withUnsafeBufferPointer { b in
            planes[2].withUnsafeBufferPointer { c in
              pixels.withUnsafeMutableBufferPointer { pixels in
                guard let a = a.baseAddress, let b = b.baseAddress, let c = c.baseAddress,
                  let target = pixels.baseAddress
                else { return }
                for x in stride(from: 0, to: count, by: step) {
                  SampleFinisher.interleave((a + x, b + x, c + x), count: min(step, count - x), into: target + 3 * x)
                }
              }
            }
          }
        }
        return pixels
      }
      #expect(interleaved(count) == interleaved(1), "\(count)")
    }
  }

  @Test func expandedRowsHaveTheBytesOfTheirPixels() {
    for count in [1, 4, 9, 10, 11, 18, 19, 100] {
      let bytes = (0..<3 * count).map { UInt8($0 * 37 & 255) }
      let padded = (count + 15) & ~15
      var words: [UInt32] = Array(repeating: 0, count: padded)
      ColourRows.expand(bytes, count: count, padded: padded, into: &words)
      for (x, word) in words.enumerated() {
        let start = 3 * min(x, count - 1)
        let expected = [bytes[start], bytes[start + 1], bytes[start + 2]]
        #expect((0..<3).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } == expected, "\(x) of \(count)")
      }
    }
  }

  // MARK: Chroma

  /// The loss of chroma, computed pixel by pixel.
  private func loss(_ raster: Raster) -> Double {
    let (width, bytes) = (raster.size.width, raster.bytes)
    func chroma(_ x: Int, _ y: Int) -> [Int] {
      let pixel = bytes[(y * width + x) * 3..<(y * width + x) * 3 + 3].map { Int($0) }
      if raster.space == .ycc { return Array(pixel[1...]) }
      return [
        (-11_056 * pixel[0] - 21_712 * pixel[1] + 32_768 * pixel[2]) >> 16,
        (32_768 * pixel[0] - 27_440 * pixel[1] - 5_328 * pixel[2]) >> 16,
      ]
    }
    func sum(_ block: Int, _ row: Int, _ part: Int) -> Int {
      [(0, 0), (1, 0), (0, 1), (1, 1)].reduce(0) { $0 + chroma(2 * block + $1.0, 2 * row + $1.1)[part] }
    }
    var (squares, count) = (0, 0)
    for row in stride(from: 1, to: raster.size.height / 2 - 1, by: 2) {
      for block in 1..<width / 2 - 1 {
        for (right, below) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
          for part in 0..<2 {
            let (side, line) = (block + 2 * right - 1, row + 2 * below - 1)
            let shown =
              9 * sum(block, row, part) + 3 * (sum(side, row, part) + sum(block, line, part)) + sum(side, line, part)
            let difference = chroma(2 * block + right, 2 * row + below)[part] * 64 - shown
            squares += difference * difference
            count += 1
          }
        }
      }
    }
    return count == 0 ? 0 : (Double(squares) / Double(count)).squareRoot() / 64
  }

  @Test(arguments: [Raster.Space.rgb, .ycc]) func theLossOfChromaIsThatOfEachPixel(_ space: Raster.Space) throws {
    var random = SplitMix(state: 3)
    for (width, height) in [(4, 8), (5, 9), (6, 8), (13, 12), (14, 11), (15, 16), (16, 8), (27, 21), (64, 12)] {
      for isExtreme in [false, true] {
        let raster = try Raster(PixelSize(width, height), bands: 3, space: space) { _, _ in
          (0..<3).map { _ in
            isExtreme ? (Bool.random(using: &random) ? 255 : 0) : UInt8.random(in: 0...255, using: &random)
          }
        }
        #expect(ChromaLoss.levels(raster) == loss(raster), "\(width)x\(height)")
      }
    }
  }

  // MARK: Planes

  /// Passes its planes one after the other, or all of them row by row.
  private final class Planes: RowSource {
    let layout: RowLayout
    private let samples: [[UInt8]]
    private var bands: [(plane: Int, row: Int)]

    init(_ size: PixelSize, isInTurn: Bool) {
      let extent = PixelExtent(width: Double(size.width), height: Double(size.height))
      layout = RowLayout(planes: (0..<3).map { _ in RowLayout.Plane(size: size, channels: 1, extent: extent) })
      samples = (0..<3).map { (plane: Int) -> [UInt8] in
        (0..<size.pixelCount).map { (index: Int) -> UInt8 in
          UInt8(truncatingIfNeeded: index * (5 + plane) + plane * 90)
        }
      }
      bands = []
      for index in (0..<3 * size.height).reversed() {
        bands.append(isInTurn ? (index % 3, index / 3) : (index / size.height, index % size.height))
      }
    }

    func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
      guard let (plane, row) = bands.popLast() else { return false }
      let width = layout.planes[plane].size.width
      let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: width)
      defer { copy.deallocate() }
      _ = copy.update(from: samples[plane][row * width..<(row + 1) * width])
      guard let start = copy.baseAddress else { return false }
      try receive(RowBand(plane: plane, start: UnsafeRawPointer(start), stride: width, count: 1))
      return true
    }
  }

  @Test(arguments: [true, false]) func aPlaneMayBeFarAheadOfAnother(_ keepsPlanes: Bool) throws {
    let (size, target) = (PixelSize(60, 400), PixelSize(40, 300))
    let rasters = try [true, false].map { isInTurn in
      let source = Planes(size, isInTurn: isInTurn)
      let view = ViewRenderer.View(
        size: target, part: PixelRectangle(x: 0, y: 0, size: target), keepsPlanes: keepsPlanes)
      let renderer = try ViewRenderer(source.layout, views: [view])
      return try renderer.render(source, cancellation: CancellationFlag())[0].bytes
    }
    #expect(rasters[0] == rasters[1])
  }
}
