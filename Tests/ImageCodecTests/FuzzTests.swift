@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5)), .serialized) struct FuzzTests {
  /// In a process of its own: a crash fails the test, not the run. The same mutations on every run.
  @Test(arguments: [
    ["jpegsave_buffer", ""], ["jpegsave_buffer", "interlace=true"], ["pngsave_buffer", ""],
    ["webpsave_buffer", ""], ["gifsave_buffer", ""], ["tiffsave_buffer", "compression=lzw"],
    ["tiffsave_buffer", "compression=deflate,tile=true,tile-width=16,tile-height=16"],
    ["heifsave_buffer", "compression=av1,effort=0"],
  ])
  func mutatedFilesNeitherCrashNorExceedTheBudget(_ arguments: [String]) async {
    await #expect(processExitsWith: .success) { [arguments = arguments as [String]] in
      try await FuzzTests.renderMutations(arguments[0], arguments[1])
    }
  }

  private static let budget = 64 << 20

  private static func renderMutations(_ saver: String, _ options: String) async throws {
    let file = try TestPicture.texture(64, 48).encoded(saver, options)
    let variants = [Variant(size: PixelSize(16, 16)), Variant(size: PixelSize(30, 30), fit: .cover, gravity: .entropy)]
    _ = try await TestRender.all(.memory(file), variants)
    let before = Thoroughness.isFull ? ResidentMemory.resetPeak() : nil
    var random = SplitMix(state: 7)
    for round in Thoroughness.rounds(300) {
      var copy = file
      // Headers and pixels in turn.
      random.damage(&copy, in: 0..<(round % 2 == 0 ? min(copy.count, 120) : copy.count), places: 4)
      if round % 7 == 0 { copy.removeLast(random.below(copy.count)) }
      do {
        for rendered in try await TestRender.all(.memory(copy), variants, budget: budget, isTolerant: round % 3 == 0) {
          if case .success(let thumbnail) = rendered.result { #expect(!thumbnail.data.isEmpty) }
        }
      } catch {
        #expect(error is CodecError)
      }
    }
    // Real time: memory is measured before a release alone.
    if let before { #expect(ResidentMemory.peak - before <= budget) }
  }
}
