@testable import ThumbnailCore

/// What is known of a finished thumbnail.
@Suite struct ThumbnailTests {
  @Test func aTagIsMadeOnceForAllCopiesAndAnewForOtherBytes() {
    let source = SourceDescription(size: PixelSize(1, 1), format: .png, byteCount: 1)
    let first = Thumbnail(data: Data([1]), size: PixelSize(1, 1), format: .png, source: source)
    var other = first
    #expect(first.tag.value { "a" } == "a" && other.tag.value { "b" } == "a")
    other.data = Data([2])
    #expect(other.tag.value { "c" } == "c" && first.tag.value { "d" } == "a")
    other.data = first.data
    #expect(other == first)
  }
}
