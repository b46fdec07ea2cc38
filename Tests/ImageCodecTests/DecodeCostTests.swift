import Foundation
import Testing

@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5)), .serialized)
struct DecodeCostTests {
  private static let cases: [[String]] = [
    ["jpegsave_buffer", "Q=90"], ["jpegsave_buffer", "Q=90,interlace=true"],
    ["jpegsave_buffer", "Q=90,interlace=true,subsample-mode=off"], ["pngsave_buffer", "compression=1"],
    ["pngsave_buffer", "compression=1,interlace=true"], ["webpsave_buffer", "effort=0"],
    ["webpsave_buffer", "lossless=true,effort=0"], ["gifsave_buffer", "effort=1"], ["tiffsave_buffer", ""],
    ["tiffsave_buffer", "tile=true,compression=lzw"], ["heifsave_buffer", "compression=av1,effort=0"],
  ]

  /// In a process of its own, where nothing else takes memory.
  @Test(arguments: cases)
  func thePredictedCostIsAtLeastTheMeasuredOne(_ arguments: [String]) async {
    await #expect(processExitsWith: .success) { [arguments = arguments as [String]] in
      try await DecodeCostTests.measure(arguments[0], arguments[1])
    }
  }

  private static func measure(_ saver: String, _ options: String) async throws {
    try Codec.start()
    let body = ByteSource.memory(try TestPicture.texture(300, 200).repeated(8).encoded(saver, options))
    // The first decode also pays for what the process keeps: tables, threads, code.
    let first = try TestPicture.quarters(40, 40).encoded(saver, options)
    _ = try await TestRender.one(first, Variant(size: PixelSize(32, 32), format: .jpeg))
    for side in [256, 800, 1500] {
      let variant = Variant(size: PixelSize(side, side), format: .jpeg)
      let plan = try DecodePlan.make(
        probe: try probe(body), bodyLength: body.count, variants: [variant], memoryBudget: 1 << 40)
      guard let before = ResidentMemory.resetPeak() else { return }
      _ = try await TestRender.all(body, [variant])
      let taken = ResidentMemory.peak - before
      #expect(taken <= plan.predictedBytes, "\(saver) \(options) \(side): \(taken) of \(plan.predictedBytes)")
    }
  }

  @Test func aPictureBeyondTheBudgetIsRefusedWithItsNumber() throws {
    var probed = ImageProbe(format: .jpeg, storedSize: PixelSize(6000, 4000))
    probed.isProgressive = true
    probed.samplesPerPixel = 1.5
    let variant = Variant(size: PixelSize(256, 256))
    let budget = 64 << 20
    let error = #expect(throws: CodecError.self) {
      try DecodePlan.make(probe: probed, bodyLength: 1 << 20, variants: [variant], memoryBudget: budget)
    }
    guard case .exceedsMemoryBudget(let needed, budget) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(needed > 70 << 20 && needed < 100 << 20)
    probed.isProgressive = false
    let plan = try DecodePlan.make(probe: probed, bodyLength: 1 << 20, variants: [variant], memoryBudget: budget)
    #expect(plan.predictedBytes < 16 << 20)
  }

  @Test func aTightBudgetGetsACheaperPlan() throws {
    let probed = ImageProbe(format: .jpeg, storedSize: PixelSize(6000, 4000))
    let variants = [2000, 1800, 1500].map { (side: Int) in
      Variant(size: PixelSize(side, side), fit: .contain, scaling: .best)
    }
    let generous = try DecodePlan.make(probe: probed, bodyLength: 1, variants: variants, memoryBudget: 1 << 30)
    #expect(generous.passes.count == 1 && generous.passes[0].reader == .libvips)
    let tight = try DecodePlan.make(
      probe: probed, bodyLength: 1, variants: variants, memoryBudget: generous.predictedBytes * 3 / 5)
    #expect(tight.predictedBytes <= generous.predictedBytes * 3 / 5)
    #expect(Set(tight.passes.flatMap(\.steps).map(\.variant)) == Set(variants))
    #expect(tight.passes.allSatisfy { $0.baseSize.width >= $0.steps[0].geometry.view.width })
  }

  @Test func theFewestPixelsThatAreGoodEnoughAreDecoded() throws {
    let probed = ImageProbe(format: .jpeg, storedSize: PixelSize(6000, 4000))
    func reader(_ variant: Variant) throws -> DecodePlan.Reader {
      try DecodePlan.make(probe: probed, bodyLength: 1, variants: [variant], memoryBudget: 1 << 30).passes[0].reader
    }
    #expect(try reader(Variant(size: PixelSize(256, 256), fit: .contain)) == .shrunkJPEG(factor: 8))
    #expect(try reader(Variant(size: PixelSize(500, 500))) == .shrunkJPEG(factor: 8))
    #expect(try reader(Variant(size: PixelSize(501, 501))) == .shrunkJPEG(factor: 4))
    #expect(try reader(Variant(size: PixelSize(500, 500), scaling: .best)) == .shrunkJPEG(factor: 4))
    #expect(try reader(Variant(size: PixelSize(4000, 4000))) == .libvips)
  }
}

/// What the kernel says of this process.
enum ResidentMemory {
  /// Forgets the peak and returns what is resident now, in bytes. Nil where the kernel does not allow it.
  static func resetPeak() -> Int? {
    guard let file = fopen("/proc/self/clear_refs", "w") else { return nil }
    defer { fclose(file) }
    guard fputs("5", file) >= 0 else { return nil }
    return value("VmRSS:")
  }

  /// The most that was resident since, in bytes.
  static var peak: Int { value("VmHWM:") }

  private static func value(_ key: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
    return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
  }
}
