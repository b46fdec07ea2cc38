@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import ImageCodec

/// Every file of the shared corpus that only helpers read, some of which end or hang them.
///
/// The corpus is not part of the project; where it is absent the test is skipped.
@Suite(.timeLimit(.minutes(5)), .serialized) struct IsolatedCorpusTests {
  private static func entries() throws -> [(path: String, expected: String)] {
    try SharedCorpus.manifest().map { fields in (fields[0], fields[8]) }
  }

  @Test(.withTheCorpus)
  func goodPicturesAreRenderedAndBadOnesCostThemselves() async throws {
    // Real time: some hang until it has passed. Hundreds of times what the others need.
    let bench = HelperBench(deadline: .seconds(20))
    var counts: [String: Int] = [:]
    for (path, expected) in try Self.entries() {
      let bytes = Array(try Data(contentsOf: SharedCorpus.root.appending(path: path)))
      let header = Result { () throws(CodecError) in try probe(.memory(bytes)) }
      guard let refusal = header.failure, let format = refusal.helperFormat else { continue }
      let result = try #require(
        try await bench.render(bytes, format, [Variant(size: PixelSize(128, 128), fit: .contain)]).first)
      switch result {
      case .success:
        #expect(expected != "reject", "\(path) was rendered")
        counts["rendered", default: 0] += 1
      case .failure(let error):
        // Two good ones are of kinds that libvips would show wrongly, or not know to be cut: these are refused.
        let isRefused = ["narrow.pbm", "Bretagne2_4.j2k"].contains { path.hasSuffix($0) }
        #expect(path.hasPrefix("bad/") || isRefused, "\(path): \(error)")
        if case .helperFailed(.cannotStart) = error { Issue.record("\(path): \(error)") }
        counts["\(error)".prefix { $0 != "(" && $0 != ":" }.trimmingCharacters(in: .whitespaces), default: 0] += 1
      }
      #expect(bench.pool.waiting.count <= 1)
    }
    print("corpus in helpers: \(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" })")
    #expect(counts["rendered", default: 0] > 80)
  }

  /// As with `--isolate all`: the walls keep nothing from a decoder that it needs.
  @Test(.withTheCorpus)
  func whatIsReadInProcessIsTheSameInAHelper() async throws {
    try Codec.start()
    // Real time: some hang until it has passed. Hundreds of times what the others need.
    let bench = HelperBench(deadline: .seconds(20))
    let variant = Variant(size: PixelSize(128, 128), fit: .contain)
    var count = 0
    for (path, _) in try Self.entries() where path.hasPrefix("good/") {
      let bytes = Array(try Data(contentsOf: SharedCorpus.root.appending(path: path)))
      guard let header = try? probe(.memory(bytes)), let here = try? await TestRender.one(bytes, variant) else {
        continue
      }
      let there = try #require(try await bench.render(bytes, header.format, [variant]).first)
      #expect(there.failure == nil, "\(path)")
      #expect((try? there.get().data) == here.data, "\(path) looks different")
      count += 1
    }
    #expect(count > 250)
  }

  /// Whatever memory a decoder leaves uninitialised, and whatever was decoded before.
  @Test(.withTheCorpus)
  func aPictureLooksTheSameInEachHelper() async throws {
    let variant = Variant(size: PixelSize(128, 128), fit: .contain)
    let pictures = try Self.entries().map(\.path).filter { $0.hasPrefix("good/") }
    var made: [String: Data] = [:]
    for order in [pictures, pictures.reversed()] {
      // Real time: as above.
      let bench = HelperBench(deadline: .seconds(20))
      for path in order {
        let bytes = Array(try Data(contentsOf: SharedCorpus.root.appending(path: path)))
        let header = Result { () throws(CodecError) in try probe(.memory(bytes)) }
        guard case .failure(let refusal) = header, let format = refusal.helperFormat,
          let data = try? await bench.render(bytes, format, [variant]).first?.get().data
        else { continue }
        #expect(made[path] == nil || made[path] == data, "\(path) looks different")
        made[path] = data
      }
    }
    #expect(made.count > 60)
  }

  @Test(.withTheCorpus)
  func aCompressedDrawingMayEndAnywhere() async throws {
    // Real time: some hang until it has passed. Hundreds of times what the others need.
    let bench = HelperBench(deadline: .seconds(20))
    let whole = try Data(
      contentsOf: SharedCorpus.root.appending(path: "bad/libvips+libvips/test/test-suite/images/logo.svgz"))
    // 185 bytes hang libvips' own search for a loader, which is never asked here.
    for length in [11, 60, 185, 400, whole.count - 1] {
      let error = try await bench.failure(Array(whole.prefix(length)), .svg)
      #expect(error != nil, "\(length) bytes of it were rendered")
    }
    #expect(try await bench.failure(Array(whole), .svg) == nil)
  }
}
