import Testing

@testable import HEIFContainer
@testable import ThumbnailCore

/// The size in sequence parameter sets.
@Suite struct HEVCSequenceTests {
  /// Of an image of 640×480, as x265 writes it.
  private static let sequence: [UInt8] = [
    0x42, 0x01, 0x01, 0x03, 0x70, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03,
    0x00, 0x5A, 0xA0, 0x05, 0x02, 0x01, 0xE1, 0x65, 0xBA, 0x92, 0x4A, 0x6B, 0x9B, 0x81, 0x01, 0x03,
    0x02, 0x00, 0x00, 0x03, 0x00, 0x02, 0x00, 0x00, 0x03, 0x00, 0x02, 0x10,
  ]

  @Test func theSizeIsReadWithoutTheBytesThatHideStartCodes() throws {
    #expect(try HEVCSequence(unit: Self.sequence)?.size == PixelSize(640, 480))
    #expect(try HEVCSequence(unit: [0x40, 1, 0x0C]) == nil)
    #expect(try HEVCSequence(unit: []) == nil)
  }

  @Test func aSetThatEndsEarlyIsTruncated() {
    for length in 1..<16 {
      #expect(throws: CodecError.truncated(detail: "in a parameter set")) {
        try HEVCSequence(unit: Self.sequence.prefix(length))
      }
    }
  }
}
