@testable import CodecTestSupport
@testable import Thumbnailer

@Suite(.timeLimit(.minutes(5))) struct RowIndexesTests {
  private static func key(_ number: Int) -> SourceKey { SourceKey(identity: "\(number)", headers: []) }

  @Test func theOnesUsedLastAreKept() {
    let indexes = RowIndexes()
    for number in 0..<RowIndexes.most + 10 {
      indexes.keep(RowIndex([UInt8(number)]), of: Self.key(number))
      #expect(indexes.index(of: Self.key(0)).bytes == [0])
    }
    #expect(indexes.index(of: Self.key(RowIndexes.most + 9)).bytes == [UInt8(RowIndexes.most + 9)])
    #expect(indexes.index(of: Self.key(5)).bytes.isEmpty)
  }

  @Test func whatIsTooLongIsNotKept() {
    let indexes = RowIndexes()
    indexes.keep(RowIndex([UInt8](repeating: 0, count: RowIndex.longest + 1)), of: Self.key(1))
    #expect(indexes.index(of: Self.key(1)).bytes.isEmpty)
  }

  @Test(arguments: [true, false]) func aPartOfALargeJPEGIsTheSameAfterAnother(_ isInProcess: Bool) async throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "large.jpg")
    try Data(TestPicture.texture(400, 300).repeated(9).encoded("jpegsave_buffer", "Q=80")).write(to: file)
    func pipeline(_ name: String) throws -> ThumbnailPipeline {
      var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url.appending(path: name))
      configuration.isolation = isInProcess ? .inProcess : .helper(executable: HelperBench.executable)
      return try ThumbnailPipeline(configuration)
    }
    func part(_ x: Int, _ y: Int, by pipeline: ThumbnailPipeline) async throws -> Data {
      var variant = Variant(size: PixelSize(200, 200), fit: .contain)
      variant.framing.crop = Framing.Crop(x: x, y: y, size: PixelSize(200, 200))
      return try await pipeline.thumbnail(for: ThumbnailRequest(.file(at: file.path), variant: variant)).data
    }
    let first = try pipeline("one")
    _ = try await part(100, 50, by: first)
    #expect(try await part(3333, 2444, by: first) == part(3333, 2444, by: pipeline("two")))
  }
}
