@testable import CodecTestSupport
@testable import ImageCodec

/// What can be read of a damaged picture is shown, the rest in grey.
@Suite(.timeLimit(.minutes(5)))
struct SalvageTests {
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
    try expectUpperHalf(try await TestRender.one(file, variant, isTolerant: true))
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

  @Test func aHelperDoesSoToo() async throws {
    let file = Array("P6 240 240 255\n".utf8) + (0..<240 * 120).flatMap { _ in [UInt8](arrayLiteral: 220, 30, 30) }
    let bench = HelperBench()
    for accepts in [false, true] {
      let result = try #require(try await bench.render(file, .pnm, [variant], acceptsDamage: accepts).first)
      if accepts { try expectUpperHalf(result.get()) } else { #expect(throws: CodecError.self) { try result.get() } }
    }
  }

  private func expectUpperHalf(_ made: Thumbnail) throws {
    let pixels = try DecodedPixels(made.data)
    #expect(made.isDamaged && pixels.isNear(TestPicture.red, 30, 5) && pixels.isNear([128, 128, 128], 30, 57))
  }

  /// Portable maps of 64×64 with samples as text or as bytes: libvips takes what is missing at their end for white.
  @Test func aPortableMapIsWholeOrAnError() async throws {
    let bench = HelperBench()
    let text = { (count: Int, most: Int) in (0..<count).map { "\($0 % (most + 1))" }.joined(separator: " ") }
    let files: [(kind: String, head: String, samples: [UInt8])] = [
      ("P1", "64 64", Array(text(64 * 64, 1).utf8)), ("P2", "64 64 255", Array(text(64 * 64, 255).utf8)),
      ("P3", "64 64 255", Array(text(64 * 64 * 3, 255).utf8)), ("P4", "64 64", [UInt8](repeating: 0xA5, count: 512)),
      ("P5", "64 64 255", [UInt8](repeating: 99, count: 4096)),
      ("P6", "64 64 255", [UInt8](repeating: 99, count: 4096 * 3)),
    ]
    for (kind, head, samples) in files {
      let start = Array("\(kind) \(head)\n".utf8)
      // A file of text may end without a newline.
      for end in [[], [UInt8(ascii: "\n")]] {
        let result = try #require(try await bench.render(start + samples + end, .pnm, [variant]).first)
        #expect(throws: Never.self, "\(kind)") { try result.get() }
      }
      let cut = Array(samples.prefix(samples.count * 2 / 3))
      let result = try #require(try await bench.render(start + cut, .pnm, [variant]).first)
      #expect(throws: CodecError.self, "\(kind)") { try result.get() }
    }
  }
}
