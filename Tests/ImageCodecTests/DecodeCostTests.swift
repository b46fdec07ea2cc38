@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5)), .serialized) struct DecodeCostTests {
  private static let cases: [[String]] = [
    ["jpegsave_buffer", "Q=90"], ["jpegsave_buffer", "Q=90,interlace=true"],
    ["jpegsave_buffer", "Q=90,interlace=true,subsample-mode=off"], ["pngsave_buffer", "compression=1"],
    ["pngsave_buffer", "compression=1,interlace=true"], ["webpsave_buffer", "effort=0"],
    ["webpsave_buffer", "lossless=true,effort=0"], ["gifsave_buffer", "effort=1"], ["tiffsave_buffer", ""],
    ["tiffsave_buffer", "tile=true,compression=lzw"], ["heifsave_buffer", "compression=av1,effort=0"],
    ["tiffsave_buffer", "compression=deflate,tile-height=1600"],
    ["jpegsave_buffer", "Q=70,subsample-mode=on"], ["heifsave_buffer", "compression=hevc,effort=0"],
  ]

  /// In a process of its own, where nothing else takes memory.
  @Test(.beforeARelease, arguments: cases) func thePredictedCostIsAtLeastTheMeasuredOne(_ arguments: [String]) async {
    await #expect(processExitsWith: .success) { [arguments = arguments as [String]] in
      try await DecodeCostTests.measure(arguments[0], arguments[1])
    }
  }

  /// A picture of 2,400 × 1,600 pixels in each size and in all at once, with and without alpha; and one of 24,000 × 160.
  private static func measure(_ saver: String, _ options: String) async throws {
    try Codec.start()
    // The first decode also pays for what the process keeps: tables, threads, code.
    let first = try TestPicture.quarters(40, 40).encoded(saver, options)
    _ = try await TestRender.one(first, Variant(size: PixelSize(32, 32), format: .jpeg))
    let hasAlpha = ["png", "webp", "gif", "tiff"].contains { saver.hasPrefix($0) }
    var pictures = [TestPicture.texture(300, 200).repeated(8), TestPicture.texture(3000, 20).repeated(8)]
    if hasAlpha { pictures.append(TestPicture.texture(300, 200, bands: 4).repeated(8)) }
    // libwebp's sides end at 16,383.
    if saver.hasPrefix("webp") { pictures.remove(at: 1) }
    var bodies = try pictures.map { try $0.encoded(saver, options) }
    if saver.hasPrefix("png") || saver.hasPrefix("tiff") {
      bodies.append(try pictures[0].encoded(saver, options, bits: 16))
    }
    for bytes in bodies {
      let body = ByteSource.memory(bytes)
      for sides in [[256], [1500], [2400], [1500, 700, 600, 64]] {
        let variants = sides.map { Variant(size: PixelSize($0, $0), fit: .contain, format: .jpeg) }
        let plan = try DecodePlan.make(bytes, variants)
        guard let before = ResidentMemory.resetPeak() else { return }
        _ = try await TestRender.all(body, variants)
        // Real time: measured before a release alone, in a process of its own.
        let taken = ResidentMemory.peak - before
        #expect(taken <= plan.predictedBytes, "\(saver) \(options) \(plan): \(taken) of \(plan.predictedBytes)")
      }
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

  @Test(arguments: [ImageFormat.jpeg, .heif, .tiff]) func whatAHeaderClaimsOverflowsNothing(format: ImageFormat) {
    var claimed = ImageProbe(format: format, storedSize: PixelSize(.max, .max))
    (claimed.channels, claimed.bitsPerSample, claimed.isProgressive) = (65_535, 65_535, true)
    #expect(claimed.usualMemory(for: [Variant(size: PixelSize(9000, 9000))]) >= 1 << 50)
  }

  @Test func aTightBudgetGetsACheaperPlan() throws {
    let probed = ImageProbe(format: .jpeg, storedSize: PixelSize(6000, 4000))
    let variants = [2000, 1800, 1500].map { (side: Int) in
      Variant(size: PixelSize(side, side), fit: .contain)
    }
    let generous = try DecodePlan.make(probe: probed, bodyLength: 1, variants: variants, memoryBudget: 1 << 30)
    #expect(generous.passes.count == 1 && generous.passes[0].reader == .jpeg(reduction: 1))
    let tight = try DecodePlan.make(
      probe: probed, bodyLength: 1, variants: variants, memoryBudget: generous.predictedBytes * 4 / 5)
    #expect(tight.predictedBytes <= generous.predictedBytes * 4 / 5)
    #expect(Set(tight.passes.flatMap(\.steps).map(\.variant)) == Set(variants))
    #expect(tight.passes.allSatisfy { $0.baseSize.width >= $0.steps[0].geometry.view.width })
  }

  @Test func theFewestPixelsThatAreGoodEnoughAreDecoded() throws {
    let probed = ImageProbe(format: .jpeg, storedSize: PixelSize(6000, 4000))
    func reader(_ variant: Variant) throws -> DecodePlan.Reader {
      try DecodePlan.make(probe: probed, bodyLength: 1, variants: [variant], memoryBudget: 1 << 30).passes[0].reader
    }
    #expect(try reader(Variant(size: PixelSize(256, 256), fit: .contain)) == .jpeg(reduction: 8))
    #expect(try reader(Variant(size: PixelSize(250, 250), fit: .cover)) == .jpeg(reduction: 8))
    #expect(try reader(Variant(size: PixelSize(251, 251), fit: .cover)) == .jpeg(reduction: 4))
    #expect(try reader(Variant(size: PixelSize(4000, 4000))) == .jpeg(reduction: 1))
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
