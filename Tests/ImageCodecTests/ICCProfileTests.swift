@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5))) struct ICCProfileTests {
  /// A profile that libvips has built in.
  private func profile(_ name: String) throws -> [UInt8] {
    let file = try TestPicture.quarters(16, 16).encoded("jpegsave_buffer", "profile=\(name)")
    let reader = BodyReader(.memory(file), cancellation: CancellationFlag())
    let picture = try reader.load(.jpeg, VIPS_FAIL_ON_ERROR)
    var data: UnsafeRawPointer?
    var length = 0
    try #require(vips_image_get_blob(picture.pointer, VIPS_META_ICC_NAME, &data, &length) == 0)
    return Array(UnsafeRawBufferPointer(start: data, count: length))
  }

  @Test func onlySRGBIsTakenForSRGB() throws {
    #expect(try #require(ICCProfile(profile("srgb"))).isSRGB)
    #expect(try !#require(ICCProfile(profile("p3"))).isSRGB)
  }

  @Test(arguments: ["srgb", "p3", "cmyk"])
  func aProfileIsSoundAsLongAsItsTagsLieInItAndAreOfTheirTypes(name: String) throws {
    let whole = try profile(name)
    #expect(ICCProfile(whole)?.isSound == true)
    #expect(ICCProfile(Array(whole.dropLast()))?.isSound != true)
    #expect(ICCProfile(whole + [0])?.isSound != true)
    let count = Int(whole[131])
    for index in 0..<count {
      let entry = 132 + 12 * index
      let start = whole[entry + 4..<entry + 8].reduce(0) { $0 << 8 | Int($1) }
      var (before, beyond, other) = (whole, whole, whole)
      before.replaceSubrange(entry + 4..<entry + 8, with: [0, 0, 0, 8])
      #expect(ICCProfile(before)?.isSound != true)
      beyond.replaceSubrange(entry + 8..<entry + 12, with: [0x7F, 0xFF, 0xFF, 0xFF])
      #expect(ICCProfile(beyond)?.isSound != true)
      // Only what nothing depends on may be of any type.
      other.replaceSubrange(start..<start + 4, with: Array("evil".utf8))
      let name = String(decoding: whole[entry..<entry + 4], as: UTF8.self)
      let isColour =
        name.hasPrefix("A2B") || ["wtpt", "chad", "rXYZ", "gXYZ", "bXYZ"].contains(name)
        || name.hasSuffix("TRC")
      #expect((ICCProfile(other)?.isSound != true) == isColour, "\(name)")
    }
  }

  @Test func ofWhatAnotherProcessSaysOnlyWhatThePolicyKeepsIsTaken() throws {
    let (sound, broken) = (try profile("p3"), Array(try profile("p3").dropLast()))
    #expect(KeptMetadata(.none, profile: sound) == nil)
    #expect(KeptMetadata(.profile, profile: sound)?.profile == sound)
    #expect(KeptMetadata(.profile, profile: broken)?.profile == nil)
  }

  @Test func rubbishIsNoProfile() throws {
    #expect(ICCProfile([]) == nil)
    #expect(ICCProfile([UInt8](repeating: 0xFF, count: 500)) == nil)
    let whole = try profile("srgb")
    for length in stride(from: 0, to: whole.count, by: 97) { _ = ICCProfile(Array(whole.prefix(length)))?.isSRGB }
  }
}
