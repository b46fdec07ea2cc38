@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct TruncationTests {
  private static let savers: [(saver: String, options: String)] = [
    ("jpegsave_buffer", "Q=90"), ("jpegsave_buffer", "Q=90,interlace=true"), ("pngsave_buffer", ""),
    ("pngsave_buffer", "interlace=true"), ("webpsave_buffer", ""), ("webpsave_buffer", "lossless=true"),
    ("gifsave_buffer", ""), ("tiffsave_buffer", ""), ("heifsave_buffer", "compression=av1,effort=0"),
  ]

  @Test(arguments: savers.indices) func aFileThatBreaksOffIsAnError(_ index: Int) async throws {
    let (saver, options) = Self.savers[index]
    let file = try TestPicture.texture(500, 400).encoded(saver, options)
    for share in [0.3, 0.6, 0.9] {
      let part = Array(file.prefix(Int(Double(file.count) * share)))
      let error = await #expect(throws: CodecError.self, "\(saver) \(options) \(share)") {
        try await TestRender.one(part, Variant(size: PixelSize(50, 50)))
      }
      #expect(error?.kind == "truncated")
    }
  }

  @Test(arguments: savers.indices) func aFileThatCannotBeReadEndsNoProcess(_ index: Int) async throws {
    let (saver, options) = Self.savers[index]
    let file = try TestPicture.texture(100, 80).encoded(saver, options)
    let probed = try probe(.memory(file))
    let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    let unreadable = ByteSource.file(FileDescriptor(owning: descriptor), count: file.count)
    let rendered = try await TestRender.pool.run(priority: PriorityControl(.visible)) { flag in
      Result { () throws(CodecError) in
        try TestRender.inPlace(unreadable, probed, [Variant(size: PixelSize(50, 50))], budget: 512 << 20, flag)
      }
    }.get()
    #expect(rendered.count == 1)
    for one in rendered {
      #expect(#expect(throws: CodecError.self) { try one.result.get() }?.kind == "unreadableBody")
    }
  }
}
