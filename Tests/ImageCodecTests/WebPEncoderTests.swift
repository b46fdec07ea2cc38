@testable import CodecTestSupport
@testable import ImageCodec

/// WebP files with the pixels that libvips writes with the same settings. Its files may have metadata besides.
@Suite(.timeLimit(.minutes(5))) struct WebPEncoderTests {
  private func raster(_ size: PixelSize, bands: Int) throws -> Raster {
    var random = SplitMix(state: 7)
    return try Raster(size, bands: bands) { x, _ in
      (0..<bands).map { UInt8(truncatingIfNeeded: x * ($0 + 1) + random.below(8)) }
    }
  }

  /// The parts with pixels, by their names: luma and chroma, and alpha.
  private func pixels(_ file: Data) throws -> [String: Data] {
    var parts: [String: Data] = [:]
    var rest = Data(file.dropFirst(12))
    while rest.count >= 8 {
      let length = rest.dropFirst(4).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
      parts[String(decoding: rest.prefix(4), as: UTF8.self)] = Data(rest.dropFirst(8).prefix(length))
      rest = Data(rest.dropFirst(8 + length + length % 2))
    }
    try #require(parts["VP8 "] != nil)
    return parts.filter { ["VP8 ", "ALPH"].contains($0.key) }
  }

  @Test(arguments: [(1, 1), (1, 900), (900, 1), (3, 3), (257, 120)], 1...4)
  func thePixelsAreThoseOfLibvips(sides: (Int, Int), bands: Int) throws {
    let raster = try raster(PixelSize(sides.0, sides.1), bands: bands)
    for (quality, method) in [(1, 4), (80, 4), (100, 0), (60, 6)] {
      let ours = try WebPEncoder(quality: quality, method: method).encode(raster)
      var bytes: UnsafeMutableRawPointer?
      var length = 0
      let image = try raster.image()
      let saved = withExtendedLifetime((raster, image)) {
        cvips_save_webp(image.pointer, &bytes, &length, Int32(quality), Int32(method), 1)
      }
      defer { g_free(bytes) }
      #expect(saved == 0)
      let theirs = Data(bytes: try #require(bytes), count: length)
      #expect(try pixels(ours) == pixels(theirs), "quality \(quality), method \(method)")
      #expect(ours.count <= theirs.count)
    }
  }

  @Test func aSideBeyondWhatTheFormatHoldsIsAnError() throws {
    let raster = try raster(PixelSize(16_384, 1), bands: 3)
    let error = #expect(throws: CodecError.self) { try WebPEncoder(quality: 80, method: 0).encode(raster) }
    if case .damaged(.encode, _)? = error {} else { Issue.record("\(String(describing: error))") }
  }
}
