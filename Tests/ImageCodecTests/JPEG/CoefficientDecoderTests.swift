@testable import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

/// What the reader makes of coefficients that are known.
@Suite(.timeLimit(.minutes(5))) struct CoefficientDecoderTests {
  private typealias Component = TestJPEG.Component
  private typealias Scan = TestJPEG.Scan

  /// The DC coefficients in one scan for each component, the first AC coefficients after them, and more that no scale
  /// needs.
  private static func progressiveScans(_ count: Int, bit: Int = 0, interleaved: Bool = false) -> [Scan] {
    let dc =
      interleaved
      ? [Scan(components: Array(0..<count), positions: 0...0, bit: bit)]
      : (0..<count).map { Scan(components: [$0], positions: 0...0, bit: bit) }
    let ac = (0..<count).map { Scan(components: [$0], positions: $0 == 0 ? 1...5 : 1...63, bit: bit) }
    return dc + ac + [Scan(components: [0], positions: 6...63, bit: bit)]
  }

  private func expectExact(_ jpeg: TestJPEG, _ comment: Comment? = nil) throws {
    let file = jpeg.bytes()
    for scale in JPEGScale.reduced {
      let reading = try TestJPEG.read(file, scale)
      #expect(reading.raster.size == scale.size(of: jpeg.size), comment)
      for (index, component) in jpeg.components.enumerated() {
        let subsampling = max(jpeg.mostAcross / component.across, jpeg.mostDown / component.down)
        let side = [1, 2, 4, 8].first { $0 >= 8 / scale.rawValue * subsampling } ?? 8
        let plane = reading.planes[index]
        let expected = jpeg.expectedPlane(index, side: side).cropped(to: plane.size)
        // A DC coefficient is exact; of more, two transforms may round differently.
        #expect(plane.difference(from: expected).most <= (side == 1 ? 0 : 1), comment)
        let (across, down) = (jpeg.mostAcross / component.across, jpeg.mostDown / component.down)
        #expect(reading.image.planes[index].pixelsAcross == 8 * across / side)
        #expect(reading.image.planes[index].extentDown == Double(jpeg.size.height * side) / Double(8 * down))
      }
    }
  }

  @Test(arguments: [(1, 1), (8, 8), (9, 17), (100, 60), (333, 9), (5, 400)])
  func grayOfEverySize(_ width: Int, _ height: Int) throws {
    for longCodes in [false, true] {
      var jpeg = TestJPEG(size: PixelSize(width, height))
      jpeg.hasLongCodes = longCodes
      try expectExact(jpeg)
      jpeg.isProgressive = true
      jpeg.scans = Self.progressiveScans(1)
      try expectExact(jpeg)
    }
  }

  @Test func everySamplingFactorThatDivides() throws {
    for across in [1, 2, 3, 4] {
      for down in [1, 2, 4] where across * down <= 8 {
        for progressive in [false, true] {
          var jpeg = TestJPEG(size: PixelSize(131, 77))
          jpeg.components = [
            Component(identifier: 1, across: across, down: down), Component(identifier: 2, table: 1),
            Component(identifier: 3, table: 1),
          ]
          jpeg.quantisers = [[5, 3, 4, 2, 3], [9, 6, 5, 7, 4]]
          jpeg.atStart = TestJPEG.adobeRGB
          jpeg.isProgressive = progressive
          if progressive { jpeg.scans = Self.progressiveScans(3, interleaved: true) }
          try expectExact(jpeg, "\(across)x\(down), progressive \(progressive)")
        }
      }
    }
  }

  @Test func lumaMayHaveLessSamplesThanChroma() throws {
    var jpeg = TestJPEG(size: PixelSize(90, 50))
    jpeg.components = [
      Component(identifier: 1), Component(identifier: 2, across: 2, down: 2), Component(identifier: 3, across: 2),
    ]
    jpeg.atStart = TestJPEG.adobeRGB
    try expectExact(jpeg)
  }

  @Test func ratiosThatAreNoWholeNumbersAreHandedOver() throws {
    let components = [
      Component(identifier: 1, across: 3), Component(identifier: 2, across: 2), Component(identifier: 3),
    ]
    let file = TestJPEG(size: PixelSize(40, 40), components: components).bytes()
    #expect(#expect(throws: CodecError.self) { try TestJPEG.read(file, .eighth) }?.kind == "handedOver")
  }

  @Test(arguments: [false, true]) func eachComponentInAScanOfItsOwn(_ isProgressive: Bool) throws {
    var jpeg = TestJPEG(size: PixelSize(75, 70))
    jpeg.components = [
      Component(identifier: 7, across: 2, down: 2), Component(identifier: 200), Component(identifier: 0, down: 2),
    ]
    jpeg.atStart = TestJPEG.adobeRGB
    jpeg.isProgressive = isProgressive
    jpeg.scans = isProgressive ? Self.progressiveScans(3) : (0..<3).map { Scan(components: [$0]) }
    try expectExact(jpeg)
    jpeg.restartInterval = 3
    try expectExact(jpeg)
    jpeg.scans = isProgressive ? jpeg.scans.reversed() : [Scan(components: [2, 0]), Scan(components: [1])]
    try expectExact(jpeg)
  }

  @Test(arguments: [1, 2, 5, 12, 100]) func restartIntervals(_ interval: Int) throws {
    for isProgressive in [false, true] {
      var jpeg = TestJPEG(size: PixelSize(99, 130))
      jpeg.restartInterval = interval
      jpeg.isProgressive = isProgressive
      if isProgressive { jpeg.scans = Self.progressiveScans(1) }
      try expectExact(jpeg)
    }
  }

  @Test func progressiveScansThatSplitTheFirstCoefficients() throws {
    var jpeg = TestJPEG(size: PixelSize(80, 80))
    jpeg.isProgressive = true
    jpeg.scans = [0...0, 1...1, 2...3, 4...4, 5...24].map { Scan(components: [0], positions: $0) }
    try expectExact(jpeg)
    jpeg.scans = [5...63, 3...4, 0...0, 1...2].map { Scan(components: [0], positions: $0) }
    try expectExact(jpeg)
    #expect(try TestJPEG.read(jpeg.bytes(), .eighth).scans == 3)
    #expect(try TestJPEG.read(jpeg.bytes(), .quarter).scans == 4)
  }

  @Test func longRunsOfEmptyBlocks() throws {
    var jpeg = TestJPEG(size: PixelSize(1600, 1500))
    jpeg.isProgressive = true
    jpeg.scans = Self.progressiveScans(1)
    jpeg.coefficient = { _, x, y, position in
      position == 0 ? x - y : position == 1 && (x * 7 + y * 200) % 36_001 == 9 ? 5 : 0
    }
    try expectExact(jpeg)
  }

  @Test(arguments: [1, 2, 3]) func coarseFirstScansAreTakenAtTheMiddleOfWhatTheyMayBe(_ bit: Int) throws {
    var jpeg = TestJPEG(size: PixelSize(200, 160))
    jpeg.isProgressive = true
    jpeg.quantisers = [[4]]
    jpeg.scans = Self.progressiveScans(1, bit: bit)
    let file = jpeg.bytes()
    // The DC coefficient is uncertain by ± (2ᵇⁱᵗ − 1) / 2 quantisers, an eighth of which is seen.
    let uncertain = Double((1 << bit) - 1) / 2 * 4 / 8
    let eighth = try Samples(TestJPEG.read(file, .eighth).raster).difference(from: jpeg.expectedEighth())
    #expect(Double(eighth.most) <= uncertain + 1)
    // Three AC coefficients more, which may also have been taken for 0.
    let expected = jpeg.expectedPlane(0, side: 2)
    let quarter = try TestJPEG.read(file, .quarter).planes[0].difference(from: expected)
    #expect(Double(quarter.most) <= uncertain * 7 + 1)
  }

  @Test func extremeCoefficientsTurnRoundAsLibjpegHasIt() throws {
    var jpeg = TestJPEG(size: PixelSize(64, 64))
    jpeg.coefficient = { _, x, y, position in
      position == 0 ? [2047, -2047, 1023, -1024, 513, -513, 0, 1][(x + y) % 8] : 0
    }
    for (quantiser, isWide) in [(1, false), (2, false), (255, false), (65535, true), (40000, true), (300, true)] {
      jpeg.quantisers = [[quantiser]]
      jpeg.hasWideQuantisers = isWide
      let file = jpeg.bytes()
      #expect(try Samples(TestJPEG.read(file, .eighth).raster) == Samples(file, shrink: 8), "\(quantiser)")
      _ = try TestJPEG.read(file, .quarter)
    }
  }

  @Test func anyWindowGivesTheSame() throws {
    var jpeg = TestJPEG(size: PixelSize(210, 190), components: TestJPEG.colours(2, 2))
    for (isProgressive, interval) in [(false, 0), (false, 4), (true, 0), (true, 4)] {
      jpeg.isProgressive = isProgressive
      jpeg.restartInterval = interval
      if isProgressive { jpeg.scans = Self.progressiveScans(3) }
      let file = jpeg.bytes()
      for scale in JPEGScale.reduced {
        let whole = try TestJPEG.read(file, scale)
        for window in [1, 2, 3, 7, 600, 2048] {
          let part = try TestJPEG.read(file, scale, window: window)
          #expect(try Samples(part.raster) == Samples(whole.raster), "\(window)")
          #expect(part.consumedBytes == whole.consumedBytes)
        }
      }
    }
  }

  @Test func aFileGivesWhatMemoryGives() throws {
    var jpeg = TestJPEG(size: PixelSize(300, 200))
    jpeg.coefficient = { _, x, y, position in (x * y + position) % 64 - 32 }
    let bytes = jpeg.bytes()
    try ByteSource.withFile(bytes) { (file, url) throws in
      func read(window: Int?) throws -> TestJPEG.Reading {
        try TestJPEG.Reading(
          CoefficientDecoder(file, size: jpeg.size, scale: .eighth, cancellation: CancellationFlag(), window: window))
      }
      for window in [nil, 600] { #expect(try Samples(read(window: window).raster) == jpeg.expectedEighth()) }
      // The file was cut since its length was taken.
      #expect(truncate(url.path, off_t(bytes.count / 2)) == 0)
      #expect(#expect(throws: CodecError.self) { try read(window: 600) }?.kind == "truncated")
    }
  }

  @Test func cancellationIsAnAnswer() throws {
    let flag = CancellationFlag()
    flag.set()
    #expect(throws: CodecError.cancelled) {
      try TestJPEG.read(TestJPEG(size: PixelSize(64, 64)).bytes(), .eighth, cancellation: flag)
    }
  }
}
