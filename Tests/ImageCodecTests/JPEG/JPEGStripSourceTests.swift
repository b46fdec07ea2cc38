@testable import CodecTestSupport
@testable import ImageCodec
@testable import JPEGCoefficients
@testable import ThumbnailCore

/// JPEGs at full size, a row of MCUs at a time, against libjpeg.
@Suite(.timeLimit(.minutes(5))) struct JPEGStripSourceTests {
  private static let formats = TestImages.url("formats")
  private static let broken = TestImages.url("broken")
  private static let corpus = SharedCorpus.root.appending(path: "good")

  /// A progressive file with restart markers.
  private static var restarts: [UInt8] {
    get throws { Array(try Data(contentsOf: formats.appending(path: "jpeg-restart-progressive.jpg"))) }
  }

  private static func files(under folder: URL) -> [(name: String, bytes: [UInt8])] {
    folder.files(beginningWith: [0xFF, 0xD8, 0xFF])
  }

  /// The samples of all planes, without what lies beyond the image.
  private static func samples(_ source: any RowSource) throws -> [[UInt8]] {
    let planes = source.layout.planes
    var samples: [[UInt8]] = planes.map { _ in [] }
    while try source.read({ band in
      let width = planes[band.plane].size.width * planes[band.plane].channels
      for row in 0..<band.count {
        samples[band.plane] += UnsafeRawBufferPointer(start: band.start + row * band.stride, count: width)
      }
    }) {}
    return samples
  }

  private static func rows(
    _ body: ByteSource, _ size: PixelSize, _ scale: JPEGScale = .full
  ) throws -> JPEGStripSource {
    try JPEGStripSource(CoefficientDecoder(body, size: size, scale: scale, cancellation: CancellationFlag()))
  }

  /// Whether the file was read, as like libjpeg's reading as two ways of rounding allow.
  private func compare(_ name: String, _ file: [UInt8]) throws -> Bool {
    guard let probe = try? probe(.memory(file)), probe.jpeg?.isReadByRows(at: .full) == true else { return false }
    let size = probe.storedSize
    guard let source = try? Self.rows(.memory(file), size) else { return false }
    let ours = try Self.samples(source)
    let theirs = try Self.samples(
      JPEGRowSource(
        BodyReader(.memory(file), cancellation: CancellationFlag()), size: size, profile: nil, reduction: 1,
        isTolerant: false))
    for (plane, sizes) in source.layout.planes.map(\.size).enumerated() {
      #expect(ours[plane].count == sizes.pixelCount, "\(name), plane \(plane)")
    }
    try #require(ours.map(\.count) == theirs.map(\.count), "\(name)")
    for (mine, reference) in zip(ours, theirs) {
      let (most, mean) = difference(of: mine, from: reference)
      #expect(most <= 2 && mean < 0.2, "\(name): \(most), \(mean)")
    }
    return true
  }

  @Test func theProjectsPicturesAreAsLibjpegReadsThem() throws {
    var read: [String] = []
    for (name, file) in Self.files(under: Self.formats) where try compare(name, file) { read.append(name) }
    for name in [
      "jpeg-gray-progressive.jpg", "jpeg-restart-progressive.jpg", "jpeg-progressive-separate-dc.jpg",
      "size-65500x1-progressive.jpg", "jpeg-420.jpg", "jpeg-422.jpg", "jpeg-444.jpg", "jpeg-440.jpg", "jpeg-gray.jpg",
      "jpeg-restart.jpg", "jpeg-not-interleaved.jpg",
    ] { #expect(read.contains(name), "\(name)") }
  }

  /// Luma is as with whole chroma, and a sample of chroma is nearly the mean of four.
  @Test func fullSizeChromaIsReadAtOneHalf() throws {
    let file = Array(try Data(contentsOf: Self.formats.appending(path: "jpeg-444.jpg")))
    let size = try probe(.memory(file)).storedSize
    var decoder = CoefficientDecoder(
      ByteSource.memory(file), size: size, scale: .full, cancellation: CancellationFlag())
    let whole = try Self.samples(JPEGStripSource(decoder))
    decoder.halvesChroma = true
    let source = try JPEGStripSource(decoder)
    let halved = try Self.samples(source)
    #expect(source.layout.planes.map(\.size) == [size] + Array(repeating: PixelSize(80, 60), count: 2))
    #expect(halved[0] == whole[0])
    for plane in 1...2 {
      var sum = 0
      for y in 0..<60 {
        for x in 0..<80 {
          let four = [0, 1, size.width, size.width + 1].map { Int(whole[plane][2 * y * size.width + 2 * x + $0]) }
          sum += abs(4 * Int(halved[plane][80 * y + x]) - four.reduce(0, +))
        }
      }
      #expect(sum < 4 * 80 * 60, "plane \(plane)")
    }
  }

  @Test func chromaIsHalvedWhereThumbnailsAreAThirdOfTheImage() throws {
    let file = Array(try Data(contentsOf: Self.formats.appending(path: "jpeg-444.jpg")))
    func halves(_ side: Int) throws -> Bool {
      // Without the body's length the image is not known to be smooth.
      let plan = try DecodePlan.make(
        probe: probe(.memory(file)), bodyLength: 0,
        variants: [Variant(size: PixelSize(side, side), fit: .contain)], memoryBudget: 1 << 30)
      return plan.passes[0].reader == .coefficients(.full) && plan.passes[0].halvesChroma
    }
    #expect(try halves(53) && !halves(54))
  }

  /// At 1/2 the samples are those of the reader that keeps the coefficients.
  @Test func atOneHalfNothingChanges() throws {
    var read = 0
    for (_, file) in Self.files(under: Self.formats) {
      guard let probe = try? probe(.memory(file)), probe.jpeg?.isReadByRows(at: .half) == true,
        let source = try? Self.rows(.memory(file), probe.storedSize, .half)
      else { continue }
      let whole = try CoefficientRowSource(
        CoefficientDecoder(
          ByteSource.memory(file), size: probe.storedSize, scale: .half, cancellation: CancellationFlag()))
      #expect(try Self.samples(source) == Self.samples(whole))
      read += 1
    }
    #expect(read >= 5)
  }

  @Test(.withTheCorpus)
  func theCorpusIsReadAsLibjpegReadsIt() throws {
    var count = 0
    for (name, file) in Self.files(under: Self.corpus) where try compare(name, file) { count += 1 }
    #expect(count >= 5)
  }

  @Test func whatIsBrokenIsLeftToLibjpeg() throws {
    for (name, file) in Self.files(under: Self.broken) {
      guard let probe = try? probe(.memory(file)), probe.jpeg?.isReadByRows(at: .half) == true else { continue }
      do {
        _ = try Self.samples(Self.rows(.memory(file), probe.storedSize))
        #expect(name.hasPrefix("flipped-bits") || name.hasPrefix("scans"), "\(name)")
      } catch { #expect(["handedOver", "limitExceeded"].contains((error as? CodecError)?.kind), "\(name)") }
    }
  }

  @Test func aFileThatIsCutAnywhereIsHandedOver() throws {
    let file = try Self.restarts
    let size = try probe(.memory(file)).storedSize
    for length in stride(from: 700, to: file.count - 2, by: 97) {
      #expect(throws: CodecError.self) { try Self.rows(.memory(Array(file[..<length])), size) }
    }
  }

  @Test func aFileIsReadLikeMemory() throws {
    let bytes = try Self.restarts
    let size = try probe(.memory(bytes)).storedSize
    let inFile = try ByteSource.withFile(bytes) { file, _ in try Self.samples(Self.rows(file, size)) }
    #expect(try inFile == Self.samples(Self.rows(.memory(bytes), size)))
  }

  @Test func aCancelledReadingEnds() throws {
    let bytes = try Self.restarts
    let cancellation = CancellationFlag()
    let source = try JPEGStripSource(
      CoefficientDecoder(
        ByteSource.memory(bytes), size: try probe(.memory(bytes)).storedSize, scale: .full, cancellation: cancellation))
    cancellation.set()
    #expect(throws: CodecError.cancelled) { _ = try source.read { _ in } }
  }

  @Test func theErrorOfWhoTakesTheRowsEndsTheReading() throws {
    let bytes = try Self.restarts
    let source = try Self.rows(.memory(bytes), try probe(.memory(bytes)).storedSize)
    var bands = 0
    #expect(throws: CodecError.outOfMemory) {
      _ = try source.read { _ throws(CodecError) in
        bands += 1
        throw .outOfMemory
      }
    }
    #expect(bands == 1)
  }

  @Test func onlyWhatIsNotReducedIsReadSo() throws {
    let bytes = try Self.restarts
    func reader(_ side: Int) throws -> DecodePlan.Reader {
      try DecodePlan.make(bytes, [Variant(size: PixelSize(side, side), fit: .contain)]).passes[0].reader
    }
    #expect(try reader(probe(.memory(bytes)).size.width * 2 / 3) == .coefficients(.full))
    #expect(try reader(16) != .coefficients(.full))
  }
}
