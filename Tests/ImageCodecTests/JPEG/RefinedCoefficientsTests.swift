@testable import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec

/// Progressive files at 1/2, whose scans refine AC coefficients: beside sequential files of the same coefficients.
@Suite(.timeLimit(.minutes(5))) struct RefinedCoefficientsTests {
  /// A texture, with edges and flat parts, so that runs of empty blocks and long runs of zeros come.
  private static func picture(_ width: Int, _ height: Int, bands: Int) -> TestPicture {
    TestPicture(width, height, bands: bands) { x, y in
      let noise = (x * 7919 + y * 104_729 + x * y * 31) % 61
      let base = (x / 40 + y / 24) % 3 == 0 ? 120 : (x * 3 + y) % 256
      let value = (x / 64 + y / 64) % 2 == 0 ? base : min(255, base / 2 + 2 * noise)
      return (0..<bands).map { UInt8(truncatingIfNeeded: min(255, value / ($0 + 1) + 20 * $0)) }
    }
  }

  private static func planes(_ file: [UInt8]) throws -> (planes: [Samples], consumedBytes: Int) {
    let reading = try TestJPEG.read(file, .half)
    return (reading.planes, reading.consumedBytes)
  }

  @Test(arguments: [1, 3], ["on", "off"])
  func equalSequentialOnesWhereEveryBitShows(_ bands: Int, _ subsampling: String) throws {
    try Codec.start()
    for (width, height) in [(333, 217), (64, 64), (17, 9), (8, 400)] {
      let picture = Self.picture(width, height, bands: bands)
      for quality in [10, 30] {
        let options = "Q=\(quality),subsample-mode=\(subsampling)"
        let sequential = try Self.planes(picture.encoded("jpegsave_buffer", options))
        let progressive = try Self.planes(picture.encoded("jpegsave_buffer", options + ",interlace=true"))
        #expect(sequential.planes.count == bands)
        for (plane, expected) in zip(progressive.planes, sequential.planes) {
          // Sums in another order may round differently.
          #expect(plane.difference(from: expected).most <= 1, "\(width)x\(height) \(options)")
        }
      }
    }
  }

  @Test(arguments: [60, 75, 85, 92, 98]) func areNearWhereTheLastBitsAreLeftOut(_ quality: Int) throws {
    try Codec.start()
    let picture = Self.picture(320, 240, bands: 3)
    let file = try picture.encoded("jpegsave_buffer", "Q=\(quality),interlace=true")
    let progressive = try Self.planes(file)
    let sequential = try Self.planes(picture.encoded("jpegsave_buffer", "Q=\(quality)"))
    #expect(quality < 85 || progressive.consumedBytes < file.count * 9 / 10)
    for (plane, expected) in zip(progressive.planes, sequential.planes) {
      #expect(plane.difference(from: expected).mean < 3, "\(quality)")
    }
    // What is left out is not looked at: the beginning alone gives the same.
    let beginning = try Self.planes(Array(file[..<progressive.consumedBytes]))
    #expect(beginning.planes == progressive.planes)
  }

  @Test func damageInARefinementNeverTraps() throws {
    try Codec.start()
    let file = try Self.picture(160, 120, bands: 3).encoded("jpegsave_buffer", "Q=20,interlace=true")
    var random = SystemRandomNumberGenerator()
    for _ in Thoroughness.rounds(400) {
      var bytes = file
      for _ in 0..<4 { bytes[Int.random(in: file.count / 3..<file.count, using: &random)] = .random(in: 0...255) }
      for isTolerant in [false, true] { _ = try? TestJPEG.read(bytes, .half, isTolerant: isTolerant) }
    }
  }
}
