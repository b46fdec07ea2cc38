@testable import CodecTestSupport
@testable import ImageCodec

/// Every kind of pixels comes out as 8-bit sRGB or gray of the right colours.
@Suite(.timeLimit(.minutes(5))) struct ColourTests {
  private let variant = Variant(size: PixelSize(40, 40), fit: .contain, format: .png)

  /// The quarters converted by libvips before they are written.
  private func converted(
    _ saver: String, _ options: String = "", convert: (LibvipsImage) throws -> LibvipsImage
  ) throws -> [UInt8] {
    try Codec.start()
    let picture = TestPicture.quarters(160, 160)
    return try picture.pixels.withUnsafeBytes { memory in
      let image = vips_image_new_from_memory_copy(memory.baseAddress, memory.count, 160, 160, 3, VIPS_FORMAT_UCHAR)
      let srgb = try LibvipsImage(owning: try #require(image))
        .applying { cvips_reinterpret($0, $1, VIPS_INTERPRETATION_sRGB) }
      return try TestPicture.save(try convert(srgb), saver, options)
    }
  }

  private func toP3(_ picture: LibvipsImage) throws -> LibvipsImage {
    try TestPicture.apply("icc_transform", to: picture, "output-profile=p3,input-profile=srgb")
  }

  private func to(_ space: VipsInterpretation) -> (LibvipsImage) throws -> LibvipsImage {
    { picture in try picture.applying { cvips_colourspace($0, $1, space) } }
  }

  private func expectQuarters(_ file: [UInt8], tolerance: Int, _ note: String) async throws {
    try await TestRender.pixels(file, variant).expectQuarters(note, tolerance: tolerance)
  }

  @Test func sixteenBitsAndLabBecomeSRGB() async throws {
    for (saver, space, bits, tolerance) in [
      ("pngsave_buffer", VIPS_INTERPRETATION_RGB16, 16, 2), ("tiffsave_buffer", VIPS_INTERPRETATION_RGB16, 16, 2),
      ("tiffsave_buffer", VIPS_INTERPRETATION_LAB, 32, 6),
    ] {
      let file = try converted(saver, convert: to(space))
      #expect(try probe(.memory(file)).bitsPerSample == bits)
      try await expectQuarters(file, tolerance: tolerance, "\(saver) \(space)")
    }
  }

  @Test func cmykBecomesSRGB() async throws {
    for saver in ["jpegsave_buffer", "tiffsave_buffer"] {
      let withProfile = try converted(saver, "profile=cmyk", convert: to(VIPS_INTERPRETATION_CMYK))
      #expect(try probe(.memory(withProfile)).channels == 4)
      let without = try converted(saver, "strip=true", convert: to(VIPS_INTERPRETATION_CMYK))
      // Saturated colours lie outside what inks can show.
      try await expectQuarters(withProfile, tolerance: 90, saver + " with a profile")
      try await expectQuarters(without, tolerance: 90, saver + " without")
    }
  }

  @Test func anEmbeddedProfileIsHonoured() async throws {
    let plain = try TestPicture.quarters(160, 160).encoded("jpegsave_buffer", "Q=95")
    let p3 = try converted("jpegsave_buffer", "Q=95,profile=p3", convert: toP3)
    #expect(p3.count > plain.count)
    // The same numbers without the profile are another colour; with it they are the original's.
    let stripped = try converted("jpegsave_buffer", "Q=95,strip=true", convert: toP3)
    #expect(try await !TestRender.pixels(stripped, variant).isNear(TestPicture.green, 35, 5, tolerance: 25))
    try await expectQuarters(p3, tolerance: 8, "Display P3")
  }

  @Test(arguments: ["jpegsave_buffer", "pngsave_buffer", "webpsave_buffer", "tiffsave_buffer", "heifsave_buffer"])
  func aProfileThatDoesNotFitIsIgnored(saver: String) async throws {
    let options = saver.hasPrefix("heif") ? "compression=av1,effort=0,Q=95" : saver.hasPrefix("png") ? "" : "Q=95"
    func file(_ profile: TestProfile, _ space: VipsInterpretation = VIPS_INTERPRETATION_sRGB) throws -> [UInt8] {
      try converted(saver, options) { picture in
        let picture = try picture.applying { cvips_colourspace($0, $1, space) }.copied()
        vips_image_set_blob_copy(picture.pointer, VIPS_META_ICC_NAME, profile.bytes, profile.bytes.count)
        return picture
      }
    }
    #expect(try await !TestRender.pixels(file(TestProfile()), variant).isNear(TestPicture.green, 35, 5, tolerance: 25))
    let primaries = TestProfile().primaries
    for profile in [
      TestProfile(space: "GRAY"), TestProfile(space: "CMYK"), TestProfile(space: "Lab "), TestProfile(space: "XYZ "),
      TestProfile(kind: "link"), TestProfile(kind: "abst"), TestProfile(kind: "nmcl"), TestProfile(connection: "RGB "),
      TestProfile(primaries: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
      TestProfile(primaries: [primaries[0], primaries[1], primaries[0]]), TestProfile(primaries: [primaries[0]]),
      TestProfile(curve: TestProfile.power(0)),
    ] {
      try await expectQuarters(file(profile), tolerance: 8, "\(saver) \(profile)")
    }
    let gray = try await TestRender.pixels(file(TestProfile(), VIPS_INTERPRETATION_B_W), variant)
    let plain = try await TestRender.pixels(file(TestProfile(space: "Lab "), VIPS_INTERPRETATION_B_W), variant)
    #expect(
      gray.isNear(plain[5, 5], 5, 5, tolerance: 1) && gray.isNear(plain[35, 35], 35, 35, tolerance: 1), "\(saver)")
    guard saver == "jpegsave_buffer" || saver == "tiffsave_buffer" else { return }
    // By the profile that is there, red would be cyan.
    try await expectQuarters(file(TestProfile(), VIPS_INTERPRETATION_CMYK), tolerance: 90, "\(saver) of inks")
  }
}
