import Foundation
import Testing

@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5)), .serialized)
struct FuzzTests {
  /// In a process of its own: a crash fails the test, not the run. The same mutations on every run.
  @Test(arguments: [
    ["jpegsave_buffer", ""], ["jpegsave_buffer", "interlace=true"], ["pngsave_buffer", ""],
    ["webpsave_buffer", ""], ["gifsave_buffer", ""], ["tiffsave_buffer", "compression=lzw"],
    ["tiffsave_buffer", "compression=deflate,tile=true,tile-width=16,tile-height=16,pyramid=true"],
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
    let variants = [Variant(size: PixelSize(16, 16)), Variant(size: PixelSize(30, 30), gravity: .entropy)]
    _ = try await TestRender.all(.memory(file), variants)
    guard let before = ResidentMemory.resetPeak() else { return }
    var state: UInt64 = 7
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for round in 0..<300 {
      var copy = file
      // Headers and pixels in turn.
      let reach = round % 2 == 0 ? min(copy.count, 120) : copy.count
      for _ in 0...random(4) { copy[random(reach)] = UInt8(random(256)) }
      if round % 7 == 0 { copy.removeLast(random(copy.count)) }
      do {
        for rendered in try await TestRender.all(
          .memory(copy), variants, budget: budget, isTolerant: round % 3 == 0)
        {
          if case .success(let thumbnail) = rendered.result { #expect(!thumbnail.data.isEmpty) }
        }
      } catch {
        #expect(error is CodecError)
      }
    }
    #expect(ResidentMemory.peak - before <= budget)
  }
}
