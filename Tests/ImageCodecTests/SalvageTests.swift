@testable import CodecTestSupport
@testable import ImageCodec

/// What can be read of a damaged picture is shown, the rest in grey.
@Suite(.timeLimit(.minutes(5))) struct SalvageTests {
  private let variant = Variant(size: PixelSize(60, 60), fit: .contain, format: .png)
  private let red = TestPicture(240, 240) { _, _ in TestPicture.red }

  private func half(_ file: [UInt8]) -> [UInt8] { Array(file.prefix(file.count / 2)) }

  @Test(arguments: [
    ("jpegsave_buffer", "Q=90,restart-interval=4"), ("pngsave_buffer", "compression=0,filter=none"),
  ])
  func theRowsThatAreThereAreShownAndTheRestIsGrey(_ saver: String, _ options: String) async throws {
    let file = try TestPicture.texture(240, 240).encoded(saver, options)
    let whole = try await TestRender.pixels(file, variant)
    let made = try await TestRender.one(half(file), variant, isTolerant: true)
    #expect(made.isDamaged && made.size == PixelSize(60, 60))
    let pixels = try DecodedPixels(made.data)
    for x in stride(from: 4, to: 60, by: 10) {
      #expect(pixels.isNear(whole[x, 3], x, 3, tolerance: 24), "\(pixels[x, 3]) \(whole[x, 3])")
      #expect(pixels.isNear([128, 128, 128], x, 57, tolerance: 8), "\(pixels[x, 57])")
    }
  }

  @Test func damageInTheMiddleOfAPNGLeavesTheRowsBefore() async throws {
    var file = try red.encoded("pngsave_buffer", "compression=0")
    let middle = file.count / 2
    for index in middle..<middle + 200 { file[index] ^= 0x5A }
    let made = try await TestRender.one(file, variant, isTolerant: true)
    let pixels = try DecodedPixels(made.data)
    #expect(made.isDamaged && pixels.isNear(TestPicture.red, 30, 5) && pixels.isNear([128, 128, 128], 30, 57))
  }

  @Test func whereNothingCanBeReadItStaysAnError() async throws {
    for (saver, options, length) in [
      ("jpegsave_buffer", "Q=90", 640), ("pngsave_buffer", "compression=0", 200), ("webpsave_buffer", "", 3000),
      ("pngsave_buffer", "interlace=true", 4000),
    ] {
      let file = Array(try TestPicture.texture(240, 240).encoded(saver, options).prefix(length))
      await #expect(throws: CodecError.self, "\(saver) \(options)") {
        try await TestRender.one(file, variant, isTolerant: true)
      }
    }
  }

  /// Portable maps of 64×64: libvips takes what is missing of text and bits for white.
  @Test func aPortableMapIsWholeOrAnError() async throws {
    let bench = HelperBench()
    let files = [
      (head: "P5 64 64 255", bytes: 4096), ("P6 64 64 255", 4096 * 3), ("P5 64 64 65535", 4096 * 2), ("P1 64 64", 0),
      ("P2 64 64 255", 0), ("P3 64 64 255", 0), ("P4 64 64", 0), ("P5 64 64 15", 0), ("PF 64 64 -1.0", 0),
    ]
    for (head, count) in files {
      let start = Array("\(head)\n".utf8)
      func error(_ bytes: Int) async throws -> CodecError? {
        let file = start + [UInt8](repeating: UInt8(ascii: "1"), count: bytes)
        let result = try #require(try await bench.render(file, .pnm, [variant]).first)
        if case .failure(let error) = result { return error }
        return nil
      }
      if count == 0 {
        #expect(try await error(1 << 16)?.kind == "unsupported", "\(head)")
      } else {
        #expect(try await error(count) == nil, "\(head)")
        for missing in [1, count / 3] { #expect(try await error(count - missing)?.kind == "truncated", "\(head)") }
      }
    }
  }
}
