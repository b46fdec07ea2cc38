import Synchronization

@testable import CodecTestSupport
@testable import ImageCodec
@testable import JPEGCoefficients
@testable import ThumbnailCore

/// Parts of sequential JPEGs that are made files of their own, and the indices of their rows.
@Suite(.timeLimit(.minutes(5))) struct LosslessCropTests {
  private static let size = PixelSize(197, 149)

  /// A file with luma of so many samples for each of chroma, or gray.
  private static func file(
    _ across: Int = 2, _ down: Int = 2, isGray: Bool = false, restartInterval: Int = 0, size: PixelSize = size,
    shift: Int = 0
  ) -> [UInt8] {
    var jpeg = TestJPEG(size: size, components: Array(TestJPEG.colours(across, down).prefix(isGray ? 1 : 3)))
    jpeg.restartInterval = restartInterval
    let usual = jpeg.coefficient
    if shift != 0 { jpeg.coefficient = { usual($0, $1 + shift, $2, $3) } }
    return jpeg.bytes()
  }

  private static let kinds = kinds(of: size)

  private static func kinds(of size: PixelSize) -> [(name: String, bytes: [UInt8])] {
    [
      ("4:2:0", file(size: size)), ("4:4:4", file(1, 1, size: size)), ("4:2:2", file(2, 1, size: size)),
      ("4:4:0", file(1, 2, size: size)), ("4:1:1", file(4, 1, size: size)), ("gray", file(isGray: true, size: size)),
      ("4:2:0, restarts", file(restartInterval: 7, size: size)),
      ("4:2:0, a restart for each row", file(restartInterval: 13, size: size)),
    ]
  }

  /// What is made of the part, and of the part of the whole file.
  private static func made(
    _ file: [UInt8], _ variant: Variant, orientation: Int = 1, index: SharedIndex? = nil, isWhole: Bool = true
  ) throws -> (part: Samples, whole: Samples) {
    let body = ByteSource.memory(file)
    var header = try probe(body)
    header.orientation = orientation
    let plan = try DecodePlan.make(probe: header, bodyLength: file.count, variants: [variant], memoryBudget: 256 << 20)
    try #require(plan.passes.allSatisfy { $0.window != nil })
    var whole = plan
    for number in whole.passes.indices { whole.passes[number].window = nil }
    let flag = CancellationFlag()
    let results = [
      Downsampler.pixels(of: body, plan: plan, index: index, cancellation: flag),
      Downsampler.pixels(of: body, plan: isWhole ? whole : plan, cancellation: flag),
    ]
    let samples = try results.map { try Samples(try #require($0.first).result.get().raster) }
    return (samples[0], samples[1])
  }

  private static func variant(
    _ place: (x: Int, y: Int), _ size: PixelSize, box: Int = 400, _ format: OutputFormat = .png
  ) -> Variant {
    var variant = Variant(size: PixelSize(box, box), fit: .contain, format: format)
    variant.framing.crop = Framing.Crop(x: place.x, y: place.y, size: size)
    return variant
  }

  @Test(arguments: kinds.indices) func aPartHasTheSamplesOfTheWhole(_ kind: Int) throws {
    let (name, file) = Self.kinds[kind]
    let part = PixelSize(37, 31)
    let (right, below) = (Self.size.width - part.width, Self.size.height - part.height)
    for place in [(0, 0), (15, 16), (16, 17), (17, 15), (96, 95), (right, 64), (33, below), (right, below)] {
      for format in [OutputFormat.png, .jpeg] {
        let made = try Self.made(file, Self.variant(place, part, format))
        #expect(made.part == made.whole && made.part.size == part, "\(name) \(place) \(format)")
      }
      for box in [20, 9, 3] {
        let made = try Self.made(file, Self.variant(place, part, box: box))
        #expect(made.part == made.whole, "\(name) \(place) \(box)")
      }
    }
  }

  @Test(arguments: 1...8) func aPartOfATurnedImageHasTheSamplesOfTheWhole(_ orientation: Int) throws {
    let file = Self.file()
    for place in [(0, 0), (31, 49), (Self.size.height - 60, Self.size.height - 40)] {
      let made = try Self.made(file, Self.variant(place, PixelSize(60, 40)), orientation: orientation)
      #expect(made.part == made.whole, "\(place)")
    }
  }

  @Test func moreThanHalfIsReadAsTheWhole() throws {
    for (size, isPart) in [(PixelSize(40, 40), true), (PixelSize(190, 100), false)] {
      #expect((try DecodePlan.make(Self.file(), [Self.variant((2, 2), size)]).passes[0].window != nil) == isPart)
    }
  }

  // MARK: The index

  /// A file of which the bytes that are read are counted.
  private final class CountedSource: JPEGSource {
    let bytes: [UInt8]
    private let total = Atomic(0)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }
    var read: Int { total.load(ordering: .relaxed) }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
      let got = max(0, min(buffer.count, count - offset))
      buffer.copyBytes(from: bytes[offset..<offset + got])
      total.add(got, ordering: .relaxed)
      return got
    }

    func read(at offset: Int, length: Int) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: max(0, min(length, count - offset)))
      _ = bytes.withUnsafeMutableBytes { read(at: offset, into: $0) }
      return bytes
    }

    func withMemory<Value>(
      _ body: (UnsafeRawBufferPointer?) throws(CodecError) -> Value
    ) throws(CodecError) -> Value { try body(nil) }
  }

  /// A part of a file, with windows of 256 bytes, and how many bytes were read for it.
  private static func crop(
    _ file: [UInt8], _ area: PixelRectangle, _ index: inout [UInt8]?, size: PixelSize = size
  ) throws(CodecError) -> (bytes: [UInt8], read: Int) {
    let source = CountedSource(file)
    let decoder = CoefficientDecoder(source, size: size, scale: .full, cancellation: CancellationFlag(), window: 256)
    let part = try decoder.crop(to: area, index: &index)
    return (part, source.read)
  }

  private static let low = PixelRectangle(columns: 32..<96, rows: 96..<128)

  @Test(arguments: kinds.indices) func aLaterPartIsReadFromItsFirstRowOn(_ kind: Int) throws {
    let size = PixelSize(200, 480)
    let (name, file) = Self.kinds(of: size)[kind]
    var (none, index): ([UInt8]?, [UInt8]?) = (nil, [])
    let area = PixelRectangle(columns: 32..<96, rows: 416..<448)
    let alone = try Self.crop(file, area, &none, size: size)
    let first = try Self.crop(file, PixelRectangle(columns: 0..<32, rows: 0..<32), &index, size: size)
    let known = index
    let second = try Self.crop(file, area, &index, size: size)
    #expect(none == nil && index == known)
    #expect(alone.bytes == second.bytes, "\(name)")
    #expect(alone.read > file.count / 2 && first.read >= file.count && second.read < file.count / 2, "\(name)")
  }

  @Test func theIndexOfAHighImageHasOnlySomeRows() throws {
    let size = PixelSize(8, 40_000)
    let file = Self.file(1, 1, isGray: true, size: size)
    var (none, index): ([UInt8]?, [UInt8]?) = (nil, [])
    let area = PixelRectangle(columns: 0..<8, rows: 39_016..<39_048)
    let alone = try Self.crop(file, area, &none, size: size)
    _ = try Self.crop(file, area, &index, size: size)
    let second = try Self.crop(file, area, &index, size: size)
    #expect((JPEGRowIndex.longest / 2..<JPEGRowIndex.longest).contains(index?.count ?? 0))
    #expect(alone.bytes == second.bytes && second.read < file.count / 10)
  }

  @Test func anIndexOfAnotherFileIsNotUsed() throws {
    var index: [UInt8]? = []
    _ = try Self.crop(Self.file(), Self.low, &index)
    // As long, with the same header.
    let other = Self.file(shift: 1)
    var (none, known): ([UInt8]?, [UInt8]?) = (nil, index)
    let expected = try Self.crop(other, Self.low, &none).bytes
    #expect(try Self.crop(other, Self.low, &known).bytes == expected)
    for wrong in [[], [1, 2, 3], Array(index?.dropLast() ?? []), [UInt8](repeating: 255, count: 16 + 18 * 5)] {
      known = wrong
      #expect(try Self.crop(other, Self.low, &known).bytes == expected)
    }
  }

  /// It makes a wrong image, or an error, but reads nothing beside its memory.
  @Test func anIndexOfLiesIsHarmless() throws {
    let file = Self.file(restartInterval: 7)
    var made: [UInt8]? = []
    _ = try Self.crop(file, Self.low, &made)
    let index = try #require(made)
    for place in stride(from: 0, to: index.count, by: 5) {
      for value: UInt8 in [0, 0x7F, 0xFF] {
        var lie: [UInt8]? = index
        lie?[place] = value
        // With the right checksum of the wrong place.
        if let entry = lie, place >= 16 {
          let start = 16 + (place - 16) / 18 * 18
          let position = entry[start..<start + 8].reversed().reduce(0) { $0 << 8 | Int($1) } >> 3
          if (0..<file.count).contains(position) {
            let checksum = JPEGRowIndex.checksum(Array(file[position..<min(file.count, position + 32)]))
            withUnsafeBytes(of: checksum.littleEndian) { lie?.replaceSubrange(start + 14..<start + 18, with: $0) }
          }
        }
        _ = try? Self.crop(file, Self.low, &lie)
      }
    }
  }

  @Test func anIndexThatLeadsToDamageIsReplaced() throws {
    let file = Self.file()
    let low = Self.variant((3, 105), PixelSize(40, 40))
    let index = SharedIndex(RowIndex())
    let expected = try Self.made(file, low, index: index).part
    let right = index.value
    try #require(right.bytes.count > 16)
    // Every row begins near the end, as its checksum says, too.
    var wrong = right.bytes
    let position = file.count - 40
    for start in stride(from: 16, to: wrong.count, by: 18) {
      for byte in 0..<8 { wrong[start + byte] = UInt8(truncatingIfNeeded: (position << 3) >> (8 * byte)) }
      let checksum = JPEGRowIndex.checksum(Array(file[position..<position + 32]))
      for byte in 0..<4 { wrong[start + 14 + byte] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(byte))) }
    }
    let misled = SharedIndex(RowIndex(wrong))
    #expect(try Self.made(file, low, index: misled).part == expected)
    #expect(misled.value == right)
  }

  /// No photograph has so many bytes; its prediction would be too low.
  @Test func aPartBeyondItsPredictionIsReadWithTheWhole() async throws {
    var random = SplitMix(state: 3)
    let noise = TestPicture(600, 400) { _, _ in (0..<3).map { _ in UInt8.random(in: 0...255, using: &random) } }
    let file = [UInt8](try noise.encoded("jpegsave_buffer", "Q=100,subsample-mode=off"))
    let header = (0..<90).flatMap { _ in [0xFF, 0xE2, 0xFF, 0xFF] + [UInt8](repeating: 88, count: 65_533) }
    for bytes in [file, Array(file[..<2]) + header + file[2...]] {
      let made = try await TestRender.one(bytes, Self.variant((100, 100), PixelSize(200, 200)))
      #expect(made.size == PixelSize(200, 200))
    }
  }

  // MARK: Damage

  @Test func damageBelowAPartGoesUnnoticed() throws {
    let file = Self.file()
    let high = Self.variant((3, 3), PixelSize(40, 40))
    let expected = try Self.made(file, high).part
    let index = SharedIndex(RowIndex())
    let cut = Array(file.prefix(file.count / 2)) + [0xFF, 0xD9]
    #expect(try Self.made(cut, high, index: index, isWhole: false).part == expected)
    #expect(!index.value.bytes.isEmpty)
  }

  @Test func damageAboveAPartIsThatOfTheWhole() async throws {
    let file = Self.file()
    let cut = Array(file.prefix(file.count / 2))
    for box in [400, 4] {
      let error = await #expect(throws: CodecError.self) {
        try await TestRender.one(cut, Self.variant((3, 105), PixelSize(40, 40), box: box))
      }
      #expect(error?.kind == "truncated")
    }
  }
}
