@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import ImageCodec

/// Pictures decoded by real helper processes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HelperPoolTests {
  private static let good = "formats/pnm.ppm"

  private func bytes(_ name: String) throws -> [UInt8] { Array(try TestImages.bytes(name)) }

  @Test(arguments: [
    ("bmp.bmp", ImageFormat.bmp, PixelSize(160, 120)), ("ico.ico", .ico, PixelSize(48, 48)),
    ("jpeg2000.jp2", .jpeg2000, PixelSize(160, 120)), ("jpeg-xl.jxl", .jpegXL, PixelSize(160, 120)),
    ("openexr.exr", .openEXR, PixelSize(80, 60)), ("radiance.hdr", .radiance, PixelSize(80, 60)),
    ("pnm.ppm", .pnm, PixelSize(160, 120)), ("svg.svg", .svg, PixelSize(160, 120)),
    ("svg-gzip.svgz", .svg, PixelSize(160, 120)), ("pdf.pdf", .pdf, PixelSize(120, 120)),
    ("jpeg-420.jpg", .jpeg, PixelSize(160, 120)), ("webp-lossy.webp", .webp, PixelSize(160, 120)),
  ])
  func everyFormatIsDecoded(name: String, format: ImageFormat, size: PixelSize) async throws {
    let bench = HelperBench()
    let file = try bytes("formats/\(name)")
    let variant = Variant(size: PixelSize(120, 120), fit: .contain, format: .png)
    let thumbnail = try #require(try await bench.render(file, format, [variant]).first).get()
    let source = thumbnail.source
    #expect(source == SourceDescription(size: size, format: format, byteCount: file.count))
    #expect(thumbnail.size == ThumbnailGeometry(source: size, variant: variant).output)
    let isChart = ![.svg, .pdf, .ico].contains(format)
    guard isChart else { return }
    let chart = try await TestRender.one(
      bytes("formats/png-rgb.png"), Variant(size: thumbnail.size, fit: .fill, format: .png))
    let difference = try DecodedPixels(thumbnail.data).meanDifference(from: DecodedPixels(chart.data))
    // Every second pixel of the chart is another sample of its edges.
    #expect(difference < (size.width == 80 ? 9 : 4), "differs by \(difference)")
  }

  @Test(arguments: [ImageFormat.png, .jpeg]) func ofARAWFileAHelperReadsAPreview(_ format: ImageFormat) async throws {
    let file = try RAWPictures.file("NEF", orientation: 6)
    let variant = Variant(size: PixelSize(120, 120), fit: .contain, format: format == .png ? .png : .jpeg)
    let thumbnail = try #require(
      try await HelperBench().render(file, .raw, [variant], probe: probe(.memory(file))).first
    ).get()
    #expect(thumbnail.size == PixelSize(80, 120))
    #expect(thumbnail.source == SourceDescription(size: PixelSize(1000, 1500), format: .raw, byteCount: file.count))
  }

  @Test func aPageOfAPosterIsDrawnSmall() async throws {
    let poster = String(decoding: try bytes("formats/pdf.pdf"), as: UTF8.self)
      .replacing("/MediaBox[0 0 120 120]", with: "/MediaBox[0 0 99999 120]")
    let bench = HelperBench()
    let thumbnail = try #require(
      try await bench.render(Array(poster.utf8), .pdf, [Variant(size: PixelSize(200, 200), fit: .contain)]).first
    ).get()
    #expect(thumbnail.size == PixelSize(200, 1))
  }

  @Test func aHelperForJPEGsLoadsFewLibraries() async throws {
    let bench = HelperBench()
    let picture = try bytes("formats/jpeg-420.jpg")
    _ = try #require(try await bench.render(picture, .jpeg, probe: probe(.memory(picture))).first).get()
    let helper = try #require(bench.pool.waiting.first)
    let maps = try #require(KernelFile.text("/proc/\(helper)/maps"))
    let files = maps.split(separator: "\n").compactMap { $0.split(separator: "/").last }
    let loaded = Set(files.filter { $0.contains(".so") })
    #expect(loaded.contains { $0.hasPrefix("libjpeg") }, "\(loaded)")
    let others = loaded.filter { file in
      // The unversioned Foundation has ICU behind it.
      [
        "libvips", "libgobject", "libgio", "libtiff", "libheif", "libde265", "libdav1d", "libopenjp2",
        "librsvg", "libpoppler", "libMagick", "libcurl", "libsqlite", "libFoundation.so", "lib_FoundationICU",
      ].contains { file.hasPrefix($0) }
    }
    #expect(others.isEmpty && loaded.count < 30, "\(loaded)")
  }

  @Test func eachSiteHasAProcessOfItsOwnAndFewWait() async throws {
    let bench = HelperBench()
    let file = try bytes(Self.good)
    var processes: [String: pid_t] = [:]
    for site in ["a", "b", "", "a", "b", ""] {
      _ = try #require(try await bench.render(file, .pnm, site: site).first).get()
      let last = try #require(bench.pool.waiting.last)
      #expect(processes[site] == nil || processes[site] == last)
      processes[site] = last
    }
    #expect(Set(processes.values).count == 3)
    let waiting = bench.pool.waiting
    _ = try #require(try await bench.render(file, .pnm, site: nil).first).get()
    #expect(bench.pool.waiting == waiting)
    for number in 0..<20 { _ = try #require(try await bench.render(file, .pnm, site: "\(number)").first).get() }
    #expect(bench.pool.waiting.count <= 8)
    let oldest = try #require(processes["a"])
    #expect(!HelperBench.exists(oldest))
  }

  @Test func aZygoteThatIsKilledIsReplacedUnnoticed() async throws {
    let bench = HelperBench()
    let file = try bytes(Self.good)
    _ = try #require(try await bench.render(file, .pnm, site: "a").first).get()
    for zygote in bench.pool.zygotePIDs { kill(zygote, SIGKILL) }
    for site in ["a", "b"] { _ = try #require(try await bench.render(file, .pnm, site: site).first).get() }
    #expect(bench.pool.zygotePIDs.count == 1)
  }

  @Test func aZygoteThatHasEndedBeforeItsFirstHelperIsReplaced() async throws {
    let bench = HelperBench()
    bench.pool.prepare()
    for zygote in bench.pool.zygotePIDs { kill(zygote, SIGKILL) }
    let file = try bytes("formats/jpeg-420.jpg")
    _ = try #require(try await bench.render(file, .jpeg, probe: probe(.memory(file))).first).get()
  }

  @Test func whoGivesUpWhileAZygoteStartsTakesItFromNobody() async throws {
    let file = try bytes(Self.good)
    for _ in 0..<5 {
      let bench = HelperBench(threads: 8)
      let tasks = (0..<8).map { number in
        Task { try await bench.render(file, .pnm, site: "\(number)") }
      }
      await poll { !bench.pool.zygotePIDs.isEmpty }
      for index in stride(from: 0, to: 8, by: 2) { tasks[index].cancel() }
      for index in stride(from: 1, to: 8, by: 2) {
        let made = try await tasks[index].value.first
        #expect(throws: Never.self) { try #require(made).get() }
      }
    }
  }

  @Test(arguments: [-1, 0, 1])
  func aPictureIsTheSameWhetherItsBytesOrItsFileAreSent(beyondTheLongest count: Int) async throws {
    let picture = try bytes("formats/icc-adobe-rgb.jpg")
    let bench = HelperBench()
    let expected = try #require(try await bench.render(picture, .jpeg).first).get()
    // What is behind the end of a JPEG is not read.
    let padding = [UInt8](repeating: 0, count: HelperRequest.longestInline + count - picture.count)
    let thumbnail = try #require(try await bench.render(picture + padding, .jpeg).first).get()
    #expect(thumbnail.data == expected.data)
    #expect(bench.pool.waiting.count == 1)
  }

  @Test(arguments: [64, 512]) func aThumbnailIsTheSameWhetherItsSamplesAreSharedOrSent(mebibytes: Int) async throws {
    let picture = try TestPicture.texture(300, 200).repeated(4).encoded("pngsave_buffer", "compression=1")
    // The memory of a helper with the smaller limit has room for the second one only.
    let variants = [800, 100].map { Variant(size: PixelSize($0, $0), fit: .contain, format: .png) }
    #expect(SharedSamples.length(memoryLimit: 64 << 20) < 800 * 533 * 3)
    let bench = HelperBench(memory: mebibytes << 20)
    let made = try await bench.render(picture, .png, variants, probe: probe(.memory(picture)))
    let expected = try await TestRender.all(.memory(picture), variants)
    #expect(try made.map { try $0.get().data } == expected.map { try $0.result.get().data })
  }

  @Test func sharedMemoryHasOneLengthAndIsEmptyAgainWhenItShrinks() throws {
    let limit = 256 << 20
    let (ours, file) = try SharedSamples.make(memoryLimit: limit)
    let theirs = try #require(SharedSamples(file, memoryLimit: limit))
    #expect(ftruncate(file.rawValue, 0) != 0 && ftruncate(file.rawValue, 1 << 30) != 0)
    let raster = try Raster(size: PixelSize(1200, 1000), bands: 1) { $0.initializeMemory(as: UInt8.self, repeating: 7) }
    var (written, taken) = (0, 0)
    #expect(theirs.write(raster, behind: &written) && !theirs.write(raster, behind: &written))
    var samples = [UInt8](repeating: 0, count: written)
    #expect(samples.withUnsafeMutableBytes { ours.read(into: $0, behind: &taken) })
    #expect(samples.allSatisfy { $0 == 7 } && taken == written)
    #expect(!samples.withUnsafeMutableBytes { ours.read(into: $0, behind: &taken) })
    ours.shrink()
    taken = 0
    #expect(samples.withUnsafeMutableBytes { ours.read(into: $0, behind: &taken) })
    #expect(samples[..<(1 << 20)].allSatisfy { $0 == 7 } && samples[(1 << 20)...].allSatisfy { $0 == 0 })
  }

  @Test func aPictureThatHangsCostsItselfAndNothingElse() async throws {
    // Real time: the kernel measures a helper; only has to pass. Hundreds of times what the good picture needs.
    let bench = HelperBench(deadline: .seconds(6))
    let file = try bytes(Self.good)
    _ = try #require(try await bench.render(file, .pnm).first).get()
    let first = try #require(bench.pool.waiting.first)
    guard case .helperFailed(.tooSlow(let milliseconds)) = try await bench.failure(HelperBench.endless, .svg) else {
      Issue.record("the endless picture should have come to its deadline")
      return
    }
    #expect(milliseconds >= 6000)
    #expect(!HelperBench.exists(first))
    #expect(bench.pool.working.isEmpty && bench.pool.waiting.isEmpty)
    _ = try #require(try await bench.render(file, .pnm).first).get()
    #expect(bench.pool.waiting != [first])
  }

  @Test func aHelperThatIsKilledWhileItWaitsIsReplacedUnnoticed() async throws {
    let bench = HelperBench()
    let file = try bytes(Self.good)
    _ = try #require(try await bench.render(file, .pnm).first).get()
    let first = try #require(bench.pool.waiting.first)
    kill(first, SIGKILL)
    _ = try #require(try await bench.render(file, .pnm).first).get()
    #expect(!HelperBench.exists(first))
    #expect(bench.pool.waiting.count == 1)
  }

  @Test func aHelperThatIsKilledInTheMiddleCostsThatPicture() async throws {
    let bench = HelperBench()
    async let outcome = bench.failure(HelperBench.endless, .svg)
    let pid = try await bench.busyProcess()
    kill(pid, SIGKILL)
    #expect(try await outcome == .helperFailed(.crashed(how: "signal 9, Killed")))
    #expect(!HelperBench.exists(pid))
    _ = try #require(try await bench.render(bytes(Self.good), .pnm).first).get()
  }

  @Test func cancellingEndsTheHelperAtOnce() async throws {
    let bench = HelperBench()
    let task = Task { try await bench.failure(HelperBench.endless, .svg) }
    let pid = try await bench.busyProcess()
    task.cancel()
    #expect(try await task.value == .cancelled)
    #expect(!HelperBench.exists(pid))
  }

  @Test func helpersEndWithTheirPool() async throws {
    let file = try bytes(Self.good)
    var pids: [pid_t] = []
    do {
      let bench = HelperBench(threads: 2)
      async let one = bench.render(file, .pnm)
      async let two = bench.render(file, .pnm)
      _ = try await (one, two)
      pids = bench.pool.waiting
    }
    #expect((1...2).contains(pids.count))
    await poll { [pids] in pids.allSatisfy { !HelperBench.exists($0) } }
  }

  @Test func whatNeedsTooMuchMemoryIsRefusedWithTheLimit() async throws {
    let bench = HelperBench(memory: 64 << 20)
    // A bitmap of 9000×9000 pixels of 24 bits.
    let header: [UInt8] =
      Array("BM".utf8) + [
        0, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 0x28, 0x23, 0, 0, 0x28, 0x23, 0, 0, 1, 0, 24, 0,
      ]
      + [UInt8](repeating: 0, count: 24)
    let error = try await bench.failure(header + [UInt8](repeating: 7, count: 1 << 20), .bmp)
    #expect(error == .helperFailed(.outOfMemory(limit: 64 << 20)))
    _ = try #require(try await bench.render(bytes(Self.good), .pnm).first).get()
  }

  @Test func theLimitsOfThePipelineHoldInTheHelper() async throws {
    let bench = HelperBench()
    let header = Array("P6\n3000 2000 255\n".utf8)
    let few = try await bench.render(header, .pnm, limits: DecodeLimits(maximumPixels: 1_000_000)).first
    #expect(few?.failure == .limitExceeded(.pixels(PixelSize(3000, 2000)), value: 6_000_000, maximum: 1_000_000))
    let wide = try await bench.render(Array("P5\n10 70000 255\n".utf8), .pnm).first
    #expect(wide?.failure == .limitExceeded(.side(PixelSize(10, 70000)), value: 70000, maximum: 65535))
  }

  @Test(arguments: [("jpeg2000.jp2", ImageFormat.jpeg2000), ("jpeg-xl.jxl", .jpegXL)])
  func aTruncatedFileIsAnError(name: String, format: ImageFormat) async throws {
    let whole = try bytes("formats/\(name)")
    let error = try await HelperBench().failure(Array(whole.prefix(whole.count / 2)), format)
    #expect(["truncated", "damaged"].contains(error?.kind), "\(name): \(error as Any)")
  }

  @Test func gzipDataThatIsNoDrawingIsToldFromOne() async throws {
    let whole = try bytes("formats/svg-gzip.svgz")
    let error = try await HelperBench().failure(Array(whole.prefix(60)), .svg)
    #expect(error == .notAPicture(looksLike: "gzip data without a whole SVG in it"))
  }
}

extension Result {
  /// The failure, if it is one.
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
