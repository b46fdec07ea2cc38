@testable import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec

/// JPEGs that lack only their end marker are whole; those that lack a block or a scan are not.
@Suite(.timeLimit(.minutes(5))) struct MissingEndTests {
  private static let kinds = ["Q=90", "Q=90,interlace=true", "Q=90,subsample-mode=off"]
  /// Read by the coefficient decoder, and by libvips alone.
  private static let sizes = [PixelSize(40, 30), PixelSize(200, 150)]

  private func file(_ options: String) throws -> [UInt8] {
    try TestPicture.texture(320, 240).encoded("jpegsave_buffer", options)
  }

  @Test(arguments: kinds) func aFileThatLacksOnlyItsEndMarkerIsRead(_ options: String) async throws {
    let whole = try file(options)
    for size in Self.sizes {
      let variant = Variant(size: size, format: .png)
      let expected = try await TestRender.one(whole, variant)
      for missing in [1, 2] {
        let thumbnail = try await TestRender.one(Array(whole.dropLast(missing)), variant)
        #expect(!thumbnail.isDamaged)
        #expect(try DecodedPixels(thumbnail.data).meanDifference(from: DecodedPixels(expected.data)) < 6)
      }
    }
  }

  @Test(arguments: kinds) func aFileThatLacksBlocksIsRefused(_ options: String) async throws {
    let whole = try file(options)
    for size in Self.sizes {
      for missing in [30, whole.count / 100, whole.count / 4] {
        let error = await #expect(throws: CodecError.self, "\(options) \(missing)") {
          try await TestRender.one(Array(whole.dropLast(missing)), Variant(size: size))
        }
        #expect(error?.kind == "truncated")
      }
    }
  }

  @Test func aFileThatEndsBetweenScansIsRefused() async throws {
    let whole = try file("Q=90,interlace=true")
    let scans = (0..<whole.count - 1).filter { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA }
    #expect(scans.count > 5)
    for start in scans.dropFirst() {
      // Where the tables of the next scan begin, or its header: what is before is whole.
      var end = start
      while end > 4, let before = whole[..<end].lastIndex(of: 0xFF), before > start - 200, whole[before + 1] == 0xC4 {
        end = before
      }
      let part = Array(whole[..<end])
      #expect(!JPEGStructure.hasAllScans(ByteSource.memory(part)))
      for size in Self.sizes {
        await #expect(throws: CodecError.self) { try await TestRender.one(part, Variant(size: size)) }
      }
    }
    #expect(JPEGStructure.hasAllScans(ByteSource.memory(Array(whole.dropLast(2)))))
  }
}
