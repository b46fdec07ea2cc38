@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

/// Every file of the shared corpus of real and hostile pictures, in process and within the default budget.
///
/// The corpus is not part of the project; where it is absent the tests are skipped.
@Suite(.timeLimit(.minutes(5)), .serialized) struct CorpusTests {
  private static let budget = 512 << 20

  private struct Entry {
    let path: String
    let format: String
    let size: PixelSize?
    let expected: String
  }

  private static func entries() throws -> [Entry] {
    try SharedCorpus.manifest().map { fields in
      let size = PixelSize(parsing: "\(fields[5])x\(fields[6])")
      return Entry(path: fields[0], format: fields[4], size: size, expected: fields[8])
    }
  }

  /// What becomes of one file.
  private static func outcome(_ url: URL, _ flag: CancellationFlag) -> Result<(ImageProbe, Thumbnail), CodecError> {
    Result { () throws(CodecError) in
      guard let data = try? Data(contentsOf: url) else { throw .unreadableBody(detail: url.path) }
      let body = ByteSource.memory(Array(data))
      let probed = try probe(body)
      let variant = Variant(size: PixelSize(128, 128), fit: .contain)
      guard let first = try TestRender.inPlace(body, probed, [variant], budget: budget, flag).first else {
        throw .cancelled
      }
      return (probed, try first.result.get())
    }
  }

  @Test(.withTheCorpus)
  func goodPicturesAreRenderedOrRefusedForAStatedReason() async throws {
    try await check("good/") { entry, outcome in
      switch outcome {
      case .success(let (probe, thumbnail)):
        if let size = entry.size { #expect(probe.size == size || probe.storedSize == size, "\(entry.path)") }
        #expect(max(thumbnail.size.width, thumbnail.size.height) <= 128)
        return "rendered"
      case .failure(.unsupportedFormat), .failure(.notAPicture): return "refused as unsupported"
      case .failure(let error):
        Issue.record("\(entry.path): \(error)")
        return "failed"
      }
    }
  }

  @Test(.withTheCorpus)
  func badFilesNeitherCrashNorHangNorPass() async throws {
    try await check("bad/") { entry, outcome in
      switch outcome {
      case .success:
        #expect(entry.expected != "reject", "\(entry.path) was rendered")
        return "rendered"
      case .failure(.unsupportedFormat), .failure(.notAPicture): return "refused as unsupported"
      case .failure(.limitExceeded), .failure(.exceedsMemoryBudget): return "refused by limits"
      case .failure(.truncated): return "truncated"
      case .failure(.damaged): return "damaged"
      case .failure(let error): return "\(error)"
      }
    }
  }

  @Test(.withTheCorpus)
  func aStreamNeverContradictsTheWholeBody() throws {
    for entry in try Self.entries() {
      let file = Array(try Data(contentsOf: SharedCorpus.root.appending(path: entry.path)))
      let whole = Result { () throws(CodecError) in try probe(.memory(file)) }
      let status = HeaderProber.status(of: file, by: 1000)
      switch (status, whole) {
      case (.probed(var streamed), .success(let probed)):
        // A stream stops where a chain of pages points backwards.
        if probed.format == .tiff { streamed.frameCount = probed.frameCount }
        #expect(streamed == probed, "\(entry.path)")
      case (.failed(let error), .failure(let other)): #expect(error == other, "\(entry.path)")
      case (.more, _), (.unclear, _): break
      default: Issue.record("\(entry.path): \(status), but \(whole)")
      }
    }
  }

  private func check(
    _ prefix: String, _ judge: (Entry, Result<(ImageProbe, Thumbnail), CodecError>) -> String
  ) async throws {
    let pool = WorkerPool(name: "corpus", threads: 1, onThreadExit: Codec.threadWillEnd)
    var counts: [String: Int] = [:]
    for entry in try Self.entries() where entry.path.hasPrefix(prefix) {
      let url = SharedCorpus.root.appending(path: entry.path)
      let outcome = try await pool.run(priority: PriorityControl(.visible)) { flag in
        Result<Result<(ImageProbe, Thumbnail), CodecError>, Never>.success(Self.outcome(url, flag))
      }
      counts[judge(entry, outcome.get()), default: 0] += 1
    }
    print(
      "corpus \(prefix): \(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))")
  }
}
