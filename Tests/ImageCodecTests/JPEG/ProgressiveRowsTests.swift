@testable import CodecTestSupport
@testable import ImageCodec
@testable import JPEGCoefficients
@testable import ThumbnailCore

/// Progressive JPEGs at full size, a row of MCUs at a time, against libjpeg, which keeps all coefficients.
@Suite(.timeLimit(.minutes(5)))
struct ProgressiveRowsTests {
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
  ) throws -> ProgressiveRowSource {
    try ProgressiveRowSource(CoefficientDecoder(body, size: size, scale: scale, cancellation: CancellationFlag()))
  }

  /// Whether the file was read, as like libjpeg's reading as two ways of rounding allow.
  private func compare(_ name: String, _ file: [UInt8]) throws -> Bool {
    guard let probe = try? probe(.memory(file)), probe.jpeg?.isReadByRows == true else { return false }
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
      let differences = zip(mine, reference).map { abs(Int($0) - Int($1)) }
      #expect(differences.max() ?? 0 <= 2, "\(name)")
      #expect(Double(differences.reduce(0, +)) < 0.2 * Double(max(1, differences.count)), "\(name)")
    }
    return true
  }

  @Test func theProjectsPicturesAreAsLibjpegReadsThem() throws {
    var read: [String] = []
    for (name, file) in Self.files(under: Self.formats) where try compare(name, file) { read.append(name) }
    for name in [
      "jpeg-gray-progressive.jpg", "jpeg-restart-progressive.jpg", "jpeg-progressive-separate-dc.jpg",
      "size-65500x1-progressive.jpg",
    ] { #expect(read.contains(name), "\(name)") }
  }

  /// At 1/2 the samples are those of the reader that keeps the coefficients.
  @Test func atOneHalfNothingChanges() throws {
    var read = 0
    for (_, file) in Self.files(under: Self.formats) {
      guard let probe = try? probe(.memory(file)), probe.jpeg?.isReadByRows == true,
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

  @Test(.enabled(if: SharedCorpus.isPresent, "the shared corpus is absent"))
  func theCorpusIsReadAsLibjpegReadsIt() throws {
    var count = 0
    for (name, file) in Self.files(under: Self.corpus) where try compare(name, file) { count += 1 }
    #expect(count >= 5)
  }

  @Test func whatIsBrokenIsLeftToLibjpeg() throws {
    for (name, file) in Self.files(under: Self.broken) {
      guard let probe = try? probe(.memory(file)), probe.jpeg?.isReadByRows == true else { continue }
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
    let source = try ProgressiveRowSource(
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
