import Foundation
import Testing

@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

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
    let whole = try DecodedPixels(try await TestRender.one(file, variant).data)
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

  @Test func aHelperDoesSoToo() async throws {
    let file = Array("P6 240 240 255\n".utf8) + (0..<240 * 120).flatMap { _ in [UInt8](arrayLiteral: 220, 30, 30) }
    let bench = HelperBench()
    for accepts in [false, true] {
      let result = try #require(try await bench.render(file, .pnm, [variant], acceptsDamage: accepts).first)
      guard accepts else {
        #expect(throws: CodecError.self) { try result.get() }
        continue
      }
      let made = try result.get()
      let pixels = try DecodedPixels(made.data)
      #expect(made.isDamaged && pixels.isNear(TestPicture.red, 30, 5) && pixels.isNear([128, 128, 128], 30, 57))
    }
  }
}
