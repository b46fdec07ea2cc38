import TestSupport

@testable import CodecTestSupport
@testable import ImageCodec

/// A JPEG is damaged at every size or at none: libjpeg, which reads it whole, only warns.
@Suite(.timeLimit(.minutes(5))) struct DamagedJPEGTests {
  private static let picture = TestPicture.texture(640, 480)

  /// A file without some bytes at a place, from 0 to 1, of its data or of its first scan, and others there.
  private func file(_ options: String, at place: Double, without count: Int, _ bytes: [UInt8]) throws -> [UInt8] {
    var file = try Self.picture.encoded("jpegsave_buffer", options)
    func scan(after start: Int) -> Int? { (start..<file.count - 1).first { file[$0] == 0xFF && file[$0 + 1] == 0xDA } }
    let first = try #require(scan(after: 0))
    let end = scan(after: first + 2) ?? file.count
    let start = first + 14 + Int(Double(end - first - 600) * place)
    file.replaceSubrange(start..<start + count, with: bytes)
    return file
  }

  @Test(
    arguments: [
      "Q=90", "Q=90,subsample-mode=off", "Q=75,optimize-coding=true", "Q=90,restart-interval=4", "Q=90,interlace=true",
    ], [0.1, 0.5, 0.9])
  func missingCodesAndStrayMarkersAreFoundAtEverySize(options: String, place: Double) async throws {
    for file in [
      try file(options, at: place, without: 400, []), try file(options, at: place, without: 2, [0xFF, 0xC4]),
    ] {
      for width in [40, 80, 160, 320, 500, 640] {
        for format in [OutputFormat.jpeg, .png] {
          let variant = Variant(size: PixelSize(width, width), fit: .contain, format: format)
          let error = await #expect(throws: CodecError.self, "\(width)") { try await TestRender.one(file, variant) }
          #expect(error?.isDamage == true)
        }
      }
    }
  }

  /// Of invalid codes and runs beyond a block libjpeg does not even warn.
  @Test(arguments: ["Q=90", "Q=75,optimize-coding=true", "Q=90,subsample-mode=off"])
  func otherBytesAreDamageAtEverySizeOrAtNone(options: String) async throws {
    var random = SplitMix(state: 7)
    var damaged = 0
    for _ in 0..<20 {
      let bytes = (0..<20).map { _ in UInt8.random(in: 0..<255, using: &random) }
      let file = try file(options, at: .random(in: 0...1, using: &random), without: bytes.count, bytes)
      var verdicts: Set<Bool> = []
      for width in [40, 80, 160, 320, 500, 640] {
        let variant = Variant(size: PixelSize(width, width), fit: .contain)
        verdicts.insert((try? await TestRender.one(file, variant)) == nil)
      }
      #expect(verdicts.count == 1)
      damaged += verdicts == [true] ? 1 : 0
    }
    #expect(damaged > 0 && damaged < 20)
  }

  @Test func damageOfInksIsFound() async throws {
    let file = Array(try TestImages.bytes("formats/jpeg-cmyk.jpg"))
    let middle = file.count * 3 / 4
    for width in [20, 60, 160] {
      let variant = Variant(size: PixelSize(width, width), fit: .contain)
      await #expect(throws: CodecError.self, "\(width)") {
        try await TestRender.one(Array(file[..<middle] + file[(middle + 300)...]), variant)
      }
      #expect(try await !TestRender.one(file, variant).isDamaged)
    }
  }

  @Test func damageWithinATIFFIsFound() async throws {
    var file = try Self.picture.encoded("tiffsave_buffer", "compression=jpeg,Q=90")
    for width in [40, 640] {
      #expect(try await !TestRender.one(file, Variant(size: PixelSize(width, width))).isDamaged)
    }
    let middle = file.count / 2
    file.replaceSubrange(middle..<middle + 2, with: [0xFF, 0xD9])
    for width in [40, 640] {
      await #expect(throws: CodecError.self, "\(width)") {
        try await TestRender.one(file, Variant(size: PixelSize(width, width)))
      }
    }
  }

  @Test func bytesThatNothingDependsOnAreNoDamage() async throws {
    let file = try Self.picture.encoded("jpegsave_buffer", "Q=90")
    let strange = Array(file.dropLast(2)) + [0, 7, 0, 7, 0xFF, 0xD9]
    for width in [80, 640] {
      #expect(try await !TestRender.one(strange, Variant(size: PixelSize(width, width))).isDamaged)
    }
  }
}
