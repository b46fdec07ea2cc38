import CVips
import Foundation
import Testing

@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5)))
struct ICCProfileTests {
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

  @Test func rubbishIsNoProfile() throws {
    #expect(ICCProfile([]) == nil)
    #expect(ICCProfile([UInt8](repeating: 0xFF, count: 500)) == nil)
    let whole = try profile("srgb")
    for length in stride(from: 0, to: whole.count, by: 97) { _ = ICCProfile(Array(whole.prefix(length)))?.isSRGB }
  }
}
