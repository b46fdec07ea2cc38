@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5))) struct ResamplerTests {
  // MARK: What is expected

  /// Lanczos in double precision, as it is written in books.
  private func lanczos(_ x: Double) -> Double {
    if abs(x) >= 3 { return 0 }
    return abs(x) < 1e-9 ? 1 : 3 * sine(x) * sine(x / 3) / (Double.pi * Double.pi * x * x)
  }

  private func sine(_ x: Double) -> Double { sin(Double.pi * x) }

  /// One line of `count` samples, `stride` apart, as `target` exact ones.
  ///
  /// What becomes at most a sixth is first averaged in boxes.
  private func line(_ all: [Double], extent whole: Double, target: Int) -> [Double] {
    let side = max(1, Int(whole / Double(3 * target)))
    let samples = stride(from: 0, to: all.count, by: side).map { start in
      let box = all[start..<min(start + side, all.count)]
      return box.reduce(0, +) / Double(box.count)
    }
    let extent = whole / Double(side)
    let scale = extent / Double(target)
    let stretch = max(1, scale)
    return (0..<target).map { index in
      let middle = (Double(index) + 0.5) * scale - 0.5
      var (sum, total) = (0.0, 0.0)
      for position in Int((middle - 3 * stretch).rounded(.up))...Int((middle + 3 * stretch).rounded(.down)) {
        let weight = lanczos((Double(position) - middle) / stretch)
        sum += weight * samples[min(max(position, 0), samples.count - 1)]
        total += weight
      }
      return sum / total
    }
  }

  private func exact(_ raster: Raster, to size: PixelSize, extent: PixelExtent? = nil) throws -> [Double] {
    let (width, height, bands) = (raster.size.width, raster.size.height, raster.bands)
    let samples = bytes(raster).map { Double($0) }
    var wide: [Double] = Array(repeating: 0, count: size.width * height * bands)
    for y in 0..<height {
      for band in 0..<bands {
        let row = (0..<width).map { samples[(y * width + $0) * bands + band] }
        let reduced = line(row, extent: extent?.width ?? Double(width), target: size.width)
        for (x, value) in reduced.enumerated() { wide[(y * size.width + x) * bands + band] = value }
      }
    }
    var result: [Double] = Array(repeating: 0, count: size.pixelCount * bands)
    for column in 0..<size.width * bands {
      let old = (0..<height).map { wide[$0 * size.width * bands + column] }
      let reduced = line(old, extent: extent?.height ?? Double(height), target: size.height)
      for (y, value) in reduced.enumerated() { result[y * size.width * bands + column] = min(max(value, 0), 255) }
    }
    return result
  }

  private func bytes(_ raster: Raster) -> [UInt8] { raster.bytes }

  private func largestDifference(_ samples: [UInt8], _ exact: [Double]) -> Double {
    zip(samples, exact).map { abs(Double($0) - $1) }.max() ?? .infinity
  }

  private func raster(
    _ width: Int, _ height: Int, bands: Int = 3, profile: [UInt8]? = nil,
    _ sample: (_ x: Int, _ y: Int, _ band: Int) -> UInt8
  ) throws -> Raster {
    try Raster(PixelSize(width, height), bands: bands, profile: profile) { x, y in
      (0..<bands).map { sample(x, y, $0) }
    }
  }

  /// The hardest there is: neighbours have nothing to do with each other, and black meets white.
  private func noise(_ width: Int, _ height: Int, bands: Int = 3) throws -> Raster {
    var random = SplitMix(state: UInt64(width * 7919 + height))
    return try raster(width, height, bands: bands) { _, _, _ in
      [0, 255, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
    }
  }

  // MARK: Resampling

  static let sizes: [(PixelSize, PixelSize)] = [
    (PixelSize(1, 1), PixelSize(1, 1)), (PixelSize(3, 3), PixelSize(2, 2)), (PixelSize(2, 3), PixelSize(1, 1)),
    (PixelSize(97, 61), PixelSize(33, 20)), (PixelSize(64, 40), PixelSize(63, 39)),
    (PixelSize(41, 30), PixelSize(41, 7)),
    (PixelSize(17, 90), PixelSize(5, 90)), (PixelSize(150, 100), PixelSize(9, 6)),
    (PixelSize(1, 10000), PixelSize(1, 100)),
    (PixelSize(3000, 1), PixelSize(256, 1)), (PixelSize(500, 2), PixelSize(1, 1)), (PixelSize(7, 5), PixelSize(19, 23)),
  ]

  @Test(arguments: sizes, [1, 3])
  func everySampleIsWithinOneLevelOfExact(_ sizes: (PixelSize, PixelSize), _ bands: Int) throws {
    let (from, to) = sizes
    let original = try noise(from.width, from.height, bands: bands)
    let small = try original.resampled(to: to)
    #expect(small.size == to && small.bands == bands)
    #expect(largestDifference(bytes(small), try exact(original, to: to)) <= 1)
  }

  @Test func smallRastersOfAllSizesAreWithinOneLevel() throws {
    for width in [1, 2, 5, 8, 16, 23] {
      for target in 1...width {
        for bands in [1, 3] {
          let original = try noise(width, 26 - width, bands: bands)
          let size = PixelSize(target, 1 + (26 - width) * target / width / 2)
          let difference = largestDifference(try bytes(original.resampled(to: size)), try exact(original, to: size))
          #expect(difference <= 1, "\(original.size) to \(size)")
        }
      }
    }
  }

  @Test func aPlainGroundStaysPlain() throws {
    for (from, to) in Self.sizes where from.pixelCount < 20000 {
      for value: UInt8 in [0, 1, 127, 255] {
        let plain = try raster(from.width, from.height) { _, _, _ in value }
        let extent = PixelExtent(width: Double(from.width) - 0.875, height: Double(from.height) - 0.5)
        #expect(try bytes(plain.resampled(to: to, extent: extent)).allSatisfy { $0 == value })
      }
    }
  }

  @Test func theExtentDecidesWhereSamplesLie() throws {
    let original = try noise(38, 29)
    let extent = PixelExtent(width: 37.125, height: 28.5)
    let size = PixelSize(20, 11)
    let small = try bytes(original.resampled(to: size, extent: extent))
    #expect(largestDifference(small, try exact(original, to: size, extent: extent)) <= 1)
    // A slope of 4 levels a pixel, half of whose last column is no more than padding: 37.5 pixels wide.
    let slope = try raster(38, 1, bands: 1) { x, _, _ in UInt8(20 + 4 * x) }
    let halved = try bytes(slope.resampled(to: PixelSize(15, 1), extent: PixelExtent(width: 37.5, height: 1)))
    for x in 3..<12 { #expect(abs(Double(halved[x]) - (20 + 4 * ((Double(x) + 0.5) * 2.5 - 0.5))) <= 1) }
  }

  @Test func aCropIsThatPartOfTheWhole() throws {
    for bands in [1, 3] {
      let original = try noise(83, 57, bands: bands)
      let size = PixelSize(40, 31)
      let whole = try bytes(original.resampled(to: size))
      for (x, y, width, height) in [
        (0, 0, 40, 31), (0, 0, 1, 1), (39, 30, 1, 1), (7, 3, 20, 20), (9, 0, 31, 31), (0, 11, 40, 20),
      ] {
        let part = PixelRectangle(x: x, y: y, size: PixelSize(width, height))
        let cut = try original.resampled(to: size, crop: part)
        #expect(cut.size == part.size)
        var expected: [UInt8] = []
        for row in y..<y + height {
          let start = (row * 40 + x) * bands
          expected += whole[start..<start + width * bands]
        }
        #expect(bytes(cut) == expected, "\(part)")
      }
    }
  }

  @Test func itLooksAsLibvipsWouldMakeIt() throws {
    try Codec.start()
    let original = try raster(150, 100) { x, y, band in
      let (across, down) = (sine(Double(x + band) / 9), sine(Double(y) / 7))
      return UInt8(128 + 60 * across + 60 * down)
    }
    let size = PixelSize(51, 34)
    let ours = try bytes(original.resampled(to: size))
    let theirs = try bytes(Raster(computing: try original.image().resized(to: size)))
    let squares = zip(ours, theirs).map { pow(Double($0) - Double($1), 2) }
    // 2.06 squared levels are 45 dB. What differs is libvips: its weights for 8-bit samples have few bits.
    #expect(squares.reduce(0, +) / Double(squares.count) < 2.06)
    withExtendedLifetime(original) {}
  }

  @Test func coloursOfClearPixelsDoNotBleed() throws {
    // Opaque red beside clear green.
    let original = try Raster(PixelSize(40, 4), bands: 4) { x, _ in x < 20 ? [255, 0, 0, 255] : [0, 255, 0, 0] }
    let small = try original.resampled(to: PixelSize(15, 2)).bytes
    for index in 0..<30 where small[4 * index + 3] > 8 { #expect(small[4 * index] > 250 && small[4 * index + 1] < 6) }
    #expect(small[3] == 255 && small[14 * 4 + 3] == 0)
  }

  @Test(arguments: [1.0, 1.3, 1.5, 2, 2.7]) func meansOfBoxesGiveAPlainGroundAndASlope(_ reduction: Double) throws {
    for box in [2, 4, 8] {
      let count = 60
      let target = Int(Double(count) / reduction)
      let kernel = ResampleKernel(
        ResampleKernel.Axis(
          count: count, extent: Double(count), target: target, range: 0..<target, box: box, group: 1, alignment: 1))
      for x in 0..<target {
        let weights = kernel.weights[x * kernel.taps..<(x + 1) * kernel.taps].map {
          Double($0) / Double(ResampleKernel.one)
        }
        #expect(abs(weights.reduce(0, +) - 1) < 1e-9)
        let middle = (Double(x) + 0.5) * Double(count) / Double(target) - 0.5
        guard middle > 12, middle < Double(count) - 13 else { continue }
        let slope = weights.enumerated().reduce(0) { $0 + $1.1 * Double(kernel.starts[x] + $1.0) }
        #expect(abs(slope - middle) < 0.05, "box \(box), \(slope) for \(middle)")
      }
    }
  }

  @Test(arguments: [(40, 40.0), (41, 40.5)], [16, 19, 33, 40, 57, 80, 81])
  func aSampleThatADecoderWouldInterpolateCountsAsItsPixels(_ samples: (count: Int, extent: Double), _ target: Int) {
    let count = samples.count
    let values = (0..<count).map { Double(($0 * 89 + 7) * $0 % 256) }
    // As libjpeg and libwebp do it: 3/4 of the nearest sample and 1/4 of the next one.
    let pixels = (0..<Int(2 * samples.extent)).map { pixel in
      let (own, side) = (pixel / 2, pixel % 2 * 2 - 1)
      return 0.75 * values[own] + 0.25 * values[min(max(own + side, 0), count - 1)]
    }
    let exact = line(pixels, extent: 2 * samples.extent, target: target)
    let kernel = ResampleKernel(
      ResampleKernel.Axis(
        count: count, extent: samples.extent, target: target, range: 0..<target, upsampling: 2, group: 8, alignment: 1))
    for x in 0..<target {
      let sum = (0..<kernel.taps).reduce(0.0) { sum, tap in
        let weight = Double(kernel.weights[x * kernel.taps + tap]) / Double(ResampleKernel.one)
        return sum + (weight == 0 ? 0 : weight * values[kernel.starts[x] + tap])
      }
      // Of the outermost pixel the sample beyond the window is left out: up to 2 levels where neighbours are unrelated.
      #expect(abs(sum - exact[x]) < 2, "\(x)")
    }
  }

  @Test func whatMakesNoSenseIsRefused() throws {
    let original = try noise(20, 10)
    let good = PixelSize(10, 5)
    for size in [PixelSize(0, 5), PixelSize(10, -1), PixelSize(.max, 5)] {
      #expect(throws: CodecError.self) { try original.resampled(to: size) }
    }
    for part in [
      PixelRectangle(x: -1, y: 0, size: good), PixelRectangle(x: 1, y: 0, size: good),
      PixelRectangle(x: .max, y: 0, size: PixelSize(1, 1)), PixelRectangle(x: 0, y: 0, size: PixelSize(0, 5)),
    ] {
      #expect(throws: CodecError.self) { try original.resampled(to: good, crop: part) }
    }
    for width in [0, -3, 20.5, .nan, .infinity] {
      #expect(throws: CodecError.self) {
        try original.resampled(to: good, extent: PixelExtent(width: width, height: 10))
      }
    }
  }

  // MARK: Rasters

  @Test func aTurnedRasterHasEachSampleInItsPlace() throws {
    for (w, h, bands) in [(5, 3, 1), (5, 3, 2), (5, 3, 3), (5, 3, 4), (1, 4, 3), (4, 1, 4)] {
      let original = try noise(w, h, bands: bands)
      // Where each sample of the turned raster comes from, by the orientations 1 to 8.
      let places: [(Int, Int) -> (Int, Int)] = [
        { ($0, $1) }, { (w - 1 - $0, $1) }, { (w - 1 - $0, h - 1 - $1) }, { ($0, h - 1 - $1) },
        { ($1, $0) }, { ($1, h - 1 - $0) }, { (w - 1 - $1, h - 1 - $0) }, { (w - 1 - $1, $0) },
      ]
      for (exif, place) in zip(1..., places) {
        let expected = try raster(exif < 5 ? w : h, exif < 5 ? h : w, bands: bands) { x, y, band in
          let (x, y) = place(x, y)
          return bytes(original)[(y * w + x) * bands + band]
        }
        let turned = try original.upright(Orientation(exif: exif))
        #expect(turned.size == expected.size && bytes(turned) == bytes(expected), "\(exif), \(w)x\(h), \(bands)")
      }
    }
  }

  @Test func aProfileSaysWhatTheSamplesMean() throws {
    try Codec.start()
    let plain = try raster(4, 4) { _, _, band in [30, 200, 30][band] }
    #expect(try plain.standardColours() === plain)
    #expect(try !plain.image().hasProfile)
    let p3 = try profile("p3")
    let wide = try raster(8, 8, profile: p3) { _, _, band in [30, 200, 30][band] }
    #expect(try wide.image().hasProfile)
    let small = try wide.resampled(to: PixelSize(4, 4))
    #expect(small.profile == p3)
    #expect(try small.upright(Orientation(exif: 6)).profile == p3)
    let converted = try bytes(small.standardColours())
    #expect(converted[0] < 20 && converted[1] > 195, "\(converted.prefix(3))")
    let srgb = try raster(4, 4, profile: try profile("srgb")) { _, _, band in [30, 200, 30][band] }
    #expect(try srgb.standardColours() === srgb)
  }

  /// One of libvips' own profiles.
  private func profile(_ name: String) throws -> [UInt8] {
    let plain = try noise(4, 4)
    defer { withExtendedLifetime(plain) {} }
    let options = "output-profile=\(name),input-profile=srgb"
    let picture = try TestPicture.apply("icc_transform", to: try plain.image(), options)
    var data: UnsafeRawPointer?
    var length = 0
    try #require(vips_image_get_blob(picture.pointer, VIPS_META_ICC_NAME, &data, &length) == 0)
    return Array(UnsafeRawBufferPointer(start: data, count: length))
  }

  @Test func aRasterThatCannotBeFilledIsNone() {
    #expect(throws: CodecError.cancelled) {
      try Raster(size: PixelSize(4, 4), bands: 3) { (_) throws(CodecError) in throw .cancelled }
    }
    for (size, bands) in [
      (PixelSize(0, 4), 3), (PixelSize(4, 4), 5), (PixelSize(.max, .max), 3), (PixelSize(1 << 40, 1 << 20), 1),
    ] {
      #expect(throws: CodecError.self) { try Raster(size: size, bands: bands) { _ in } }
    }
  }
}
