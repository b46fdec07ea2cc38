@testable import CodecTestSupport
@testable import ImageCodec

/// Every marker that the reader knows, and those it must not fall for.
@Suite(.timeLimit(.minutes(5))) struct CoefficientDecoderMarkerTests {
  private static let gray = TestJPEG(size: PixelSize(40, 30))

  private static let colour = TestJPEG(size: PixelSize(40, 30), components: TestJPEG.colours())

  private static let jfif = TestJPEG.segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])

  private static func adobe(_ transform: UInt8) -> [UInt8] {
    TestJPEG.segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform])
  }

  private func outcome(_ file: [UInt8], size: PixelSize = gray.size) -> CodecError? {
    do {
      _ = try TestJPEG.read(file, .eighth, size: size)
      return nil
    } catch {
      return error as? CodecError
    }
  }

  private func expectHandedOver(_ file: [UInt8], _ comment: Comment) {
    #expect(outcome(file)?.kind == "handedOver", comment)
  }

  private func expectDamaged(_ file: [UInt8], _ comment: Comment) { #expect(outcome(file)?.kind == "damaged", comment) }

  /// Puts a segment with a marker over the first one that has it.
  private func replacing(_ marker: UInt8, in file: [UInt8], with segment: [UInt8]) throws -> [UInt8] {
    let start = try #require(file.indices.dropLast().first { file[$0] == 0xFF && file[$0 + 1] == marker })
    let length = Int(file[start + 2]) << 8 | Int(file[start + 3])
    return file[..<start] + segment + file[(start + 2 + length)...]
  }

  // MARK: - Colours

  @Test func threeComponentsAreWhatLibjpegTakesThemFor() throws {
    let rgb: [UInt8] = Array("RGB".utf8)
    // The identifiers, what stands before the tables, and whether the samples are red, green and blue.
    let cases: [([UInt8], [UInt8], Bool)] = [
      ([1, 2, 3], [], false), ([0, 1, 2], [], false), (rgb, [], true), (rgb, Self.jfif, false),
      ([1, 2, 3], Self.adobe(0), true), ([1, 2, 3], Self.adobe(1), false), ([1, 2, 3], Self.adobe(2), false),
      (rgb, Self.adobe(1), false), ([1, 2, 3], Self.jfif + Self.adobe(0), false),
      // Too short to be what they are called.
      (rgb, TestJPEG.segment(0xE0, Array("JFIF\0".utf8)), true),
      (rgb, TestJPEG.segment(0xEE, Array("Adobe".utf8)), true),
    ]
    for (identifiers, start, isRGB) in cases {
      var jpeg = Self.colour
      for index in 0..<3 { jpeg.components[index].identifier = identifiers[index] }
      for inFront in [true, false] {
        jpeg.atStart = inFront ? start : []
        jpeg.beforeScan = inFront ? [] : start
        let file = jpeg.bytes()
        let samples = try Samples(TestJPEG.read(file, .eighth).raster)
        #expect((samples == jpeg.expectedEighth()) == isRGB, "\(identifiers) \(start)")
        let theirs = try Samples(file, shrink: 8)
        #expect(samples.cropped(to: theirs.size) == theirs, "\(identifiers) \(start)")
      }
    }
  }

  @Test func aProfileComesFromItsSegmentsInAnyOrder() throws {
    func part(_ number: UInt8, _ count: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      TestJPEG.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [number, count] + bytes)
    }
    func profile(_ segments: [UInt8]) throws -> [UInt8]? {
      var jpeg = Self.gray
      jpeg.atStart = segments
      return try TestJPEG.read(jpeg.bytes(), .eighth, window: 5).raster.profile
    }
    let long = [UInt8](repeating: 7, count: 65_000)
    #expect(try profile(part(1, 1, [1, 2])) == [1, 2])
    #expect(try profile(part(2, 2, long) + part(1, 2, [9])) == [9] + long)
    for segments in [
      part(1, 2, [1]), part(1, 2, [1]) + part(1, 2, [1]), part(1, 2, [1]) + part(2, 3, [1]), part(0, 1, [1]),
      part(2, 1, [1]), TestJPEG.segment(0xE2, Array("MPF\0".utf8) + long), TestJPEG.segment(0xE2, []),
    ] { #expect(try profile(segments) == nil) }
    var jpeg = Self.gray
    jpeg.atStart = (1...65).flatMap { part($0, 65, long) }
    expectHandedOver(jpeg.bytes(), "a profile of more than 4 MiB")
  }

  // MARK: - What is passed

  @Test func otherSegmentsAndStrayBytesArePassed() throws {
    let coded: [UInt8] = [0xFF, 0xDA, 0xFF, 0xD9, 0xFF, 0xC0]
    for (name, bytes): (String, [UInt8]) in [
      ("comment", TestJPEG.segment(0xFE, coded)), ("EXIF", TestJPEG.segment(0xE1, Array("Exif\0\0".utf8) + coded)),
      ("APP15", TestJPEG.segment(0xEF, [])), ("TEM", [0xFF, 0x01]), ("fill bytes", [0xFF, 0xFF, 0xFF]),
      ("stray bytes", [1, 2, 3, 0]), ("a stuffed byte", [0xFF, 0, 7]), ("DNL", TestJPEG.segment(0xDC, [0, 9])),
      ("restart marker", [0xFF, 0xD3]), ("DAC", TestJPEG.segment(0xCC, [0, 0])),
    ] {
      for place in 0..<4 {
        var jpeg = Self.gray
        jpeg.isProgressive = true
        jpeg.scans = [6...63, 1...5, 0...0].map { TestJPEG.Scan(components: [0], positions: $0) }
        switch place {
        case 0: jpeg.atStart = bytes
        case 1: jpeg.beforeScan = bytes
        case 2: jpeg.betweenScans = bytes
        default: jpeg.atScanEnd = bytes.first == 0xFF && bytes[1] != 0xFF ? [] : bytes
        }
        for window in [nil, 2] {
          let image = try TestJPEG.read(jpeg.bytes(), .eighth, size: jpeg.size, window: window)
          #expect(try Samples(image.raster) == jpeg.expectedEighth(), "\(name), \(place)")
        }
      }
    }
  }

  @Test func fillBytesInCodedDataArePassed() throws {
    var jpeg = Self.gray
    jpeg.restartInterval = 2
    jpeg.coefficient = { _, x, _, position in position < 40 ? (x + position) % 3 * 255 - 200 : 1 }
    var file = jpeg.bytes()
    // Each 0xFF may come several times.
    for index in file.indices.reversed() where file[index] == 0xFF && index > 700 { file.insert(0xFF, at: index) }
    #expect(try Samples(TestJPEG.read(file, .eighth).raster) == jpeg.expectedEighth())
  }

  // MARK: - Tables

  @Test func tablesOfEitherWidthAndSeveralInASegment() throws {
    var jpeg = Self.colour
    jpeg.components[1].table = 1
    jpeg.atStart = TestJPEG.adobeRGB
    jpeg.quantisers = [[7], [300, 200]]
    jpeg.coefficient = { component, x, y, position in position == 0 ? (component + x * 2 + y) % 7 - 3 : 0 }
    jpeg.hasWideQuantisers = true
    #expect(try Samples(TestJPEG.read(jpeg.bytes(), .eighth).raster) == jpeg.expectedEighth())
    let file = try replacing(0xDB, in: jpeg.bytes(), with: [])
    let table = [UInt8](repeating: 9, count: 64)
    jpeg.quantisers = [[9]]
    let both = try replacing(0xDB, in: file, with: TestJPEG.segment(0xDB, [0] + table + [1] + table))
    #expect(try Samples(TestJPEG.read(both, .eighth).raster) == jpeg.expectedEighth())
    let luma = try replacing(
      0xDB, in: file, with: TestJPEG.segment(0xDB, [1] + [UInt8](repeating: 3, count: 64) + [0] + table))
    #expect(try probe(.memory(luma), limits: DecodeLimits()).meanQuantiser == 9)
  }

  @Test func aTableCountsAsItWasAtAComponentsFirstScan() throws {
    var jpeg = Self.colour
    jpeg.atStart = TestJPEG.adobeRGB
    jpeg.quantisers = [[5]]
    jpeg.isProgressive = true
    jpeg.scans = [
      TestJPEG.Scan(components: [0], positions: 1...63), TestJPEG.Scan(components: [0, 1, 2], positions: 0...0),
      TestJPEG.Scan(components: [1], positions: 1...63), TestJPEG.Scan(components: [2], positions: 1...63),
    ]
    // From the second scan on another table counts, but for the first component.
    jpeg.betweenScans = TestJPEG.segment(0xDB, [0] + [UInt8](repeating: 12, count: 64))
    let samples = try Samples(TestJPEG.read(jpeg.bytes(), .eighth).raster)
    let first = jpeg.expectedEighth()
    jpeg.quantisers = [[12]]
    let others = jpeg.expectedEighth()
    for index in samples.bytes.indices {
      #expect(samples.bytes[index] == (index % 3 == 0 ? first : others).bytes[index])
    }
  }

  @Test func tablesThatDoNotAddUpAreDamage() throws {
    let file = Self.gray.bytes()
    let quantisers = [UInt8](repeating: 1, count: 64)
    func huffman(_ head: UInt8, _ counts: [UInt8], _ symbols: [UInt8]) -> [UInt8] {
      TestJPEG.segment(0xC4, [head] + counts + [UInt8](repeating: 0, count: 16 - counts.count) + symbols)
    }
    for (name, marker, segment): (String, UInt8, [UInt8]) in [
      ("a short quantisation table", 0xDB, TestJPEG.segment(0xDB, [0] + quantisers.dropLast())),
      ("a long quantisation table", 0xDB, TestJPEG.segment(0xDB, [0] + quantisers + [0])),
      ("a quantisation table 4", 0xDB, TestJPEG.segment(0xDB, [4] + quantisers)),
      ("no quantisation table", 0xDB, TestJPEG.segment(0xDB, [1] + quantisers)),
      ("three codes of a bit", 0xC4, huffman(0, [3], [0, 1, 2])),
      ("a code of nothing but ones", 0xC4, huffman(0, [2], [0, 1])),
      ("a DC symbol of 16 bits", 0xC4, huffman(0, [1], [16])),
      ("symbols that are missing", 0xC4, huffman(0, [0, 2], [0])),
      ("a Huffman table 4", 0xC4, huffman(4, [1], [0])),
      ("a Huffman table of class 2", 0xC4, huffman(0x20, [1], [0])),
      ("257 codes", 0xC4, huffman(0, [0, 0, 0, 0, 0, 0, 0, 0, 200, 57], [UInt8](repeating: 0, count: 257))),
    ] {
      expectDamaged(try replacing(marker, in: file, with: segment), Comment(rawValue: name))
    }
    expectHandedOver(try replacing(0xC4, in: file, with: []), "no Huffman tables: the standard's are meant")
    var jpeg = Self.gray
    jpeg.beforeScan = TestJPEG.segment(0xDD, [0])
    expectDamaged(jpeg.bytes(), "a short restart interval")
  }

  // MARK: - Frames

  @Test func otherProcessesAreHandedOver() throws {
    for marker: UInt8 in [0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF] {
      var jpeg = Self.gray
      jpeg.frameMarker = marker
      expectHandedOver(jpeg.bytes(), "\(marker)")
    }
    var jpeg = Self.gray
    jpeg.frameMarker = 0xC1
    #expect(try Samples(TestJPEG.read(jpeg.bytes(), .eighth).raster) == jpeg.expectedEighth())
    jpeg.precision = 12
    expectDamaged(jpeg.bytes(), "12 bits, which the header has refused")
    jpeg = Self.gray
    jpeg.components = (1...4).map { TestJPEG.Component(identifier: $0) }
    expectHandedOver(jpeg.bytes(), "4 components")
    jpeg.components.removeLast(2)
    expectHandedOver(jpeg.bytes(), "2 components")
    jpeg = Self.colour
    jpeg.components[2].identifier = 1
    expectHandedOver(jpeg.bytes(), "two components of one name")
  }

  @Test func framesThatCannotBeAreRefused() throws {
    let file = Self.gray.bytes()
    for (kind, name, frame): (String, String, [UInt8]) in [
      ("damaged", "a height that comes later (DNL)", [8, 0, 0, 0, 40, 1, 1, 0x11, 0]),
      ("damaged", "no width", [8, 0, 30, 0, 0, 1, 1, 0x11, 0]),
      ("damaged", "a sampling factor of 0", [8, 0, 30, 0, 40, 1, 1, 0x01, 0]),
      ("damaged", "a sampling factor of 5", [8, 0, 30, 0, 40, 1, 1, 0x15, 0]),
      ("damaged", "too short", [8, 0, 30, 0, 40, 1, 1, 0x11]),
      ("damaged", "too long", [8, 0, 30, 0, 40, 1, 1, 0x11, 0, 0]),
      ("damaged", "a table that cannot be", [8, 0, 30, 0, 40, 1, 1, 0x11, 7]),
      ("damaged", "another size than the header that was probed", [8, 0, 31, 0, 40, 1, 1, 0x11, 0]),
    ] {
      #expect(outcome(try replacing(0xC0, in: file, with: TestJPEG.segment(0xC0, frame)))?.kind == kind, "\(name)")
    }
    expectDamaged(try replacing(0xC0, in: file, with: []), "no frame")
    var jpeg = Self.gray
    jpeg.atStart = TestJPEG.segment(0xC0, [8, 0, 30, 0, 40, 1, 1, 0x11, 0])
    expectDamaged(jpeg.bytes(), "two frames")
    jpeg.atStart = [0xFF, 0xD8]
    expectDamaged(jpeg.bytes(), "a second start")
    for marker: UInt8 in [0x02, 0xBF, 0xC8, 0xDE, 0xDF, 0xF0, 0xFD] {
      jpeg.atStart = TestJPEG.segment(marker, [])
      expectDamaged(jpeg.bytes(), "a marker \(marker)")
    }
    jpeg.atStart = [0xFF, 0xE5, 0, 1]
    expectDamaged(jpeg.bytes(), "a length of 1")
    expectDamaged([0x89, 0x50, 0x4E, 0x47], "a PNG")
  }

  // MARK: - Scans

  @Test func scansThatCannotBeAreRefused() throws {
    let file = Self.colour.bytes()
    func scan(_ bytes: [UInt8]) throws -> [UInt8] {
      try replacing(0xDA, in: file, with: TestJPEG.segment(0xDA, bytes))
    }
    expectDamaged(try scan([1, 9, 0, 0, 63, 0]), "an unknown component")
    expectDamaged(try scan([2, 1, 0, 1, 0, 0, 63, 0]), "a component twice")
    expectHandedOver(try scan([0, 0, 63, 0]), "no component")
    expectHandedOver(try scan([1, 1, 0, 0, 63]), "too short")
    expectHandedOver(try scan([1, 1, 0, 5, 3, 0]), "positions turned round")
    expectHandedOver(try scan([1, 1, 0x11, 0, 63, 0]), "tables that are not there")
    var jpeg = Self.colour
    for index in 0..<3 { (jpeg.components[index].across, jpeg.components[index].down) = (2, 2) }
    expectDamaged(jpeg.bytes(), "an MCU of 12 blocks")
    jpeg = Self.colour
    jpeg.scans = [TestJPEG.Scan(components: [0]), TestJPEG.Scan(components: [1])]
    expectHandedOver(jpeg.bytes(), "a component without a scan")
    jpeg.scans.insert(TestJPEG.Scan(components: [0]), at: 1)
    expectHandedOver(jpeg.bytes(), "a scan twice")
    jpeg = Self.gray
    jpeg.isProgressive = true
    for positions in [0...5, 0...63] {
      jpeg.scans = [TestJPEG.Scan(components: [0], positions: positions)]
      expectDamaged(jpeg.bytes(), "\(positions)")
    }
    jpeg.scans = [TestJPEG.Scan(components: [0], positions: 0...0, bit: 14)]
    expectDamaged(jpeg.bytes(), "a bit position of 14")
  }

  @Test func whatASequentialScanSaysOfPositionsDoesNotMatter() throws {
    for header: [UInt8] in [[0, 0, 0], [3, 40, 0x21]] {
      let file = try replacing(0xDA, in: Self.gray.bytes(), with: TestJPEG.segment(0xDA, [1, 1, 0] + header))
      #expect(try Samples(TestJPEG.read(file, .eighth).raster) == Self.gray.expectedEighth())
    }
  }

  @Test func refinementsAndHighCoefficientsArePassed() throws {
    var jpeg = Self.gray
    jpeg.isProgressive = true
    jpeg.scans = [TestJPEG.Scan(components: [0], positions: 0...0)]
    // A refinement before the scan that it refines, of which nothing is read.
    jpeg.beforeScan = TestJPEG.segment(0xDA, [1, 1, 0, 0, 0, 0x10]) + [0x12, 0xFF, 0x00, 0xFF, 0xD0, 0x34]
    let image = try TestJPEG.read(jpeg.bytes(), .eighth)
    #expect(try Samples(image.raster) == jpeg.expectedEighth())
    #expect(image.scans == 2)
  }

  @Test func moreThanAHundredScansAreTooMany() throws {
    var jpeg = Self.gray
    jpeg.isProgressive = true
    jpeg.scans = [TestJPEG.Scan(components: [0], positions: 0...0)]
    let refinement = TestJPEG.segment(0xDA, [1, 1, 0, 6, 63, 0]) + [0x12]
    jpeg.beforeScan = (0..<99).flatMap { _ in refinement }
    #expect(try TestJPEG.read(jpeg.bytes(), .eighth).scans == 100)
    jpeg.beforeScan += refinement
    #expect(outcome(jpeg.bytes()) == .limitExceeded(.scans, value: 101, maximum: 100))
  }

  // MARK: - Damage

  @Test func damageInTheCodedDataIsAnError() throws {
    var jpeg = Self.gray
    jpeg.restartInterval = 5
    let file = jpeg.bytes()
    func at(_ marker: UInt8) throws -> Int {
      try #require(file.indices.dropLast().first { file[$0] == 0xFF && file[$0 + 1] == marker })
    }
    var copy = file
    copy[try at(0xD1) + 1] = 0xD2
    expectDamaged(copy, "a restart marker out of order")
    copy = file
    copy.removeSubrange(try at(0xD0)..<at(0xD0) + 2)
    expectDamaged(copy, "a restart marker that is missing")
    copy = file
    copy.insert(contentsOf: [0xFF, 0xD9], at: try at(0xD1) - 9)
    expectDamaged(copy, "the end in the middle")
    expectDamaged(Array(file[..<(try at(0xD1))] + [0xFF, 0xD9]), "an end that comes too soon")
    // All ones are no code.
    copy = file
    for index in try at(0xD0) + 2..<at(0xD0) + 30 { copy[index] = 0xFE }
    expectDamaged(copy, "codes that are none")
    // A run of 15 after 60 coefficients.
    var overlong = Self.gray
    overlong.coefficient = { _, _, _, position in position == 63 ? 1 : position <= 30 ? 1 : 0 }
    let good = overlong.bytes()
    #expect(outcome(good) == nil)
    // libjpeg looks for a place to go on, which the reader does not.
    for damaged in [copy, Array(file[..<(try at(0xD1))] + [0xFF, 0xD9])] {
      let error = #expect(throws: CodecError.self) { try TestJPEG.read(damaged, .eighth, isTolerant: true) }
      #expect(error?.kind == "handedOver")
    }
  }
}
