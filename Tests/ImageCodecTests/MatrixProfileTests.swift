import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec

/// Profiles of primaries and tone curves are converted as Little CMS converts them, through libvips.
@Suite(.timeLimit(.minutes(5))) struct MatrixProfileTests {
  /// 4,096 colours, each channel in 16 levels.
  private func colours(_ profile: [UInt8], bands: Int = 3) throws -> Raster {
    try Raster(PixelSize(64, 64), bands: bands, profile: profile) { x, y in
      let pixel = 64 * y + x
      let levels = [pixel & 15, pixel >> 4 & 15, pixel >> 8].map { UInt8($0 * 17) }
      return (levels + [UInt8(pixel & 255)]).dropLast(4 - bands)
    }
  }

  /// The largest difference and the mean one, in levels.
  private func differences(_ profile: [UInt8]) throws -> (largest: Int, mean: Double) {
    let raster = try colours(profile)
    let ours = try #require(ICCProfile(profile).flatMap { MatrixProfile($0) }).converted(raster)
    // The image points into the raster's memory.
    let theirs = try withExtendedLifetime(raster) { try Raster(computing: try raster.image().standardColours()) }
    let found = zip(ours.bytes, theirs.bytes).map { abs(Int($0) - Int($1)) }
    return (found.max() ?? 0, Double(found.reduce(0, +)) / Double(found.count))
  }

  private func profile(_ curve: [UInt8]) -> [UInt8] { TestProfile(curve: curve).bytes }

  private func parametric(_ form: Int, _ values: [Double]) -> [UInt8] {
    let numbers = values.flatMap { value in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: Int((value * 65536).rounded()) >> $0) }
    }
    return Array("para".utf8) + [0, 0, 0, 0, 0, UInt8(form), 0, 0] + numbers
  }

  @Test(arguments: ["icc-adobe-rgb.jpg", "icc-display-p3.jpg"])
  func profilesOfFilesAreConvertedAsByLittleCMS(_ name: String) throws {
    try Codec.start()
    let profile = try #require(JPEGProfile.read(ByteSource.memory(Array(try TestImages.bytes("formats/\(name)")))))
    let found = try differences(profile)
    #expect(found.largest <= 2 && found.mean < 0.5, "\(found)")
  }

  @Test func everyFormOfACurveIsReadAsByLittleCMS() throws {
    try Codec.start()
    let table = (0..<1024).flatMap { index -> [UInt8] in
      let value = Int((pow(Double(index) / 1023, 1.8) * 65535).rounded())
      return [UInt8(value >> 8), UInt8(value & 255)]
    }
    let curves: [(String, [UInt8])] = [
      ("a power", Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 0x02, 0x33, 0, 0]),
      ("none", Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 0]),
      ("a table", Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 4, 0] + table),
      ("form 0", parametric(0, [2.2])), ("form 1", parametric(1, [2.4, 0.9, 0.1])),
      ("form 2", parametric(2, [2.4, 0.85, 0.1, 0.02])),
      ("form 3", parametric(3, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])),
      ("form 4", parametric(4, [2.4, 0.92, 0.05, 0.07, 0.05, 0.01, 0.005])),
    ]
    for (name, curve) in curves {
      let found = try differences(profile(curve))
      #expect(found.largest <= 2 && found.mean < 0.5, "\(name): \(found)")
    }
  }

  @Test func alphaStaysAndTheProfileGoes() throws {
    let curve = parametric(0, [2.2])
    let raster = try colours(profile(curve), bands: 4)
    let ours = try #require(ICCProfile(profile(curve)).flatMap { MatrixProfile($0) }).converted(raster)
    #expect(ours.profile == nil && ours.bands == 4)
    let samples = ours.bytes
    #expect((0..<4096).allSatisfy { samples[$0 * 4 + 3] == UInt8(truncatingIfNeeded: $0) })
  }
}
