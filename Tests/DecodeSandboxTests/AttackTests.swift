@testable import Attacks
@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import ImageCodec

/// What code can do that has broken a decoder: nothing to the process that started it, to its files or to the machine.
///
/// Each attempt is made by a helper of its own, behind the walls of the real one: each is an image of another site.
@Suite(.timeLimit(.minutes(10))) struct AttackTests {
  private let directory: TemporaryDirectory
  /// A file of ours, which no helper is given.
  private let file: URL
  private static let secret = Data("secret".utf8)
  private static let helper = HelperBench.executable.deletingLastPathComponent().appendingPathComponent("AttackHelper")

  init() throws {
    directory = try TemporaryDirectory()
    file = directory.url.appendingPathComponent("file")
    try Self.secret.write(to: file)
    chmod(file.path, 0o600)
  }

  /// What comes of an order: the helper's account, or how it ended.
  private func outcome(
    _ order: String, _ name: String, in bench: HelperBench, _ kind: HelperKind = .full, site: String = ""
  ) async throws -> CodecError? {
    // Longer than what is sent without a file, which some attempts are about.
    let image =
      Array("\(order)\n\(name)\n\(file.path)\n".utf8) + [UInt8](repeating: 0, count: HelperRequest.longestInline)
    let (format, box) = (kind == .full ? ImageFormat.pnm : .png, PixelSize(40, 40))
    let probe = kind == .full ? nil : ImageProbe(format: format, storedSize: box)
    let made = try await bench.render(image, format, [Variant(size: box, fit: .contain)], probe: probe, site: site)
    return made.first?.failure
  }

  /// Nothing of ours has changed, and the next picture is decoded.
  private func expectThatNothingElseIsLost(
    _ bench: HelperBench, site: String = "", _ location: SourceLocation = #_sourceLocation
  ) async throws {
    #expect(try Data(contentsOf: file) == Self.secret, sourceLocation: location)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600, sourceLocation: location)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    #expect(names == ["file"], sourceLocation: location)
    let picture = Array(try TestImages.bytes("formats/pnm.ppm"))
    let thumbnail = try #require(try await bench.render(picture, .pnm, site: site).first, sourceLocation: location)
    #expect(throws: Never.self, sourceLocation: location) { try thumbnail.get() }
  }

  @Test(arguments: [HelperKind.common, .full]) func anAttemptFailsOrEndsTheHelper(of kind: HelperKind) async throws {
    let bench = HelperBench(Self.helper)
    for attempt in Attempt.all {
      let outcome = try await outcome("attempt", attempt.name, in: bench, kind, site: attempt.name)
      switch (attempt.end, outcome) {
      case (.ended, .helperFailed(.crashed(how: "signal 31, Bad system call"))?): break
      case (.refused, .damaged(.decode, let account)?) where account.hasPrefix("refused: "): break
      default: Issue.record("\(attempt): \(outcome.map { "\($0)" } ?? "a thumbnail")")
      }
      try await expectThatNothingElseIsLost(bench, site: attempt.name)
    }
  }

  @Test func whatStaysInAHelperSeesImagesOfOneSiteOnly() async throws {
    let bench = HelperBench(Self.helper)
    let image = Array("stay\n\n\n".utf8) + [UInt8](repeating: 0, count: HelperRequest.longestInline)
    let picture = Array(try TestImages.bytes("formats/pnm.ppm"))
    let expected = try #require(try await HelperBench().render(picture, .pnm).first).get()
    _ = try await bench.render(image, .pnm, site: "evil.example")
    guard
      case .damaged(_, "somebody has stayed") = try await bench.render(picture, .pnm, site: "evil.example").first?
        .failure
    else {
      Issue.record("nobody has stayed")
      return
    }
    for site in ["good.example", "", "example", "evil.example."] {
      #expect(try await bench.render(picture, .pnm, site: site).first?.get() == expected, "\(site)")
    }
  }

  @Test(arguments: Exhaustion.allCases)
  func takingAllThereIsOfSomethingCostsOnePicture(_ exhaustion: Exhaustion) async throws {
    // Real time: the kernel measures a helper; only has to pass, in one case. Hundreds of times what the others need.
    let bench = HelperBench(Self.helper, memory: 128 << 20, deadline: .seconds(exhaustion == .time ? 4 : 600))
    let outcome = try await outcome("exhaust", exhaustion.rawValue, in: bench)
    switch (exhaustion, outcome) {
    case (.memory, .damaged(_, let account)?): #expect(account.hasPrefix("refused: "))
    case (.threads, .damaged(_, let account)?): #expect(account.hasPrefix("refused: "))
    case (.descriptors, .damaged(_, let account)?): #expect(account.hasPrefix("refused: "))
    case (.output, .helperFailed(.nonsense)?), (.time, .helperFailed(.tooSlow)?): break
    case (.crash, .helperFailed(.crashed(let how))?): #expect(how == "signal 6, Aborted")
    default: Issue.record("\(exhaustion): \(outcome.map { "\($0)" } ?? "a thumbnail")")
    }
    try await expectThatNothingElseIsLost(bench)
  }

  @Test(arguments: Lie.allCases) func aLyingAnswerCostsOnePicture(_ lie: Lie) async throws {
    // Real time: only has to pass, where the parent waits for what never comes.
    let bench = HelperBench(Self.helper, deadline: .seconds(8))
    let outcome = try await outcome("lie", lie.rawValue, in: bench)
    switch outcome {
    case .helperFailed(.nonsense)?: break
    case .helperFailed(.tooSlow)? where lie.leavesParentWaiting: break
    default: Issue.record("\(lie): \(outcome.map { "\($0)" } ?? "a thumbnail")")
    }
    #expect(bench.pool.waiting.isEmpty)
    try await expectThatNothingElseIsLost(bench)
  }

  /// Otherwise a failure would say nothing about the walls.
  @Test(arguments: Attempt.all.filter(\.worksFreely))
  func theSameAttemptSucceedsWithoutWalls(_ attempt: Attempt) async throws {
    let process = Process()
    process.executableURL = Self.helper
    process.arguments = ["free", attempt.name, file.path]
    let text = try process.printed()
    #expect(text.hasPrefix("done"), "\(attempt): \(text)")
  }
}
