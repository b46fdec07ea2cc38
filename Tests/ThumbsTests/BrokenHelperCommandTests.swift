@testable import Attacks
@testable import CodecTestSupport
@testable import DecodeSandbox

/// What the comments of pictures in an own folder do to `convert` once they run as code in the helper: nothing but to
/// cost the picture.
@Suite(.timeLimit(.minutes(5))) struct BrokenHelperCommandTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private static let programs = HelperBench.executable.deletingLastPathComponent()

  /// The command, beside a helper that carries out what a picture's comment says.
  ///
  /// Links: a program that was just written cannot be started while a process that another test forks has it open.
  private func launcher(in folder: URL) throws -> [String] {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    for (name, other) in [("thumbs", "thumbs"), ("AttackHelper", DecodeHelper.programName)] {
      try FileManager.default.linkItem(
        at: Self.programs.appendingPathComponent(name), to: folder.appendingPathComponent(other))
    }
    return ["/bin/sh", "-c", #"shift; exec "$0" "$@""#, folder.appendingPathComponent("thumbs").path]
  }

  /// A JPEG that begins with a comment, and is longer than what is sent without a file.
  private func picture(_ comment: String) throws -> Data {
    let image = try TestImages.bytes("formats/jpeg-420.jpg")
    let length = comment.utf8.count + 2
    return Data([0xFF, 0xD8, 0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 255)]) + Data(comment.utf8)
      + image.dropFirst(2) + Data(count: HelperRequest.longestInline)
  }

  @Test func codeInAPictureOfAnOwnFolderReachesNothing() async throws {
    let secret = Data("secret".utf8)
    let file = bench.url("secret")
    try secret.write(to: file)
    let folder = try bench.folder("pictures")
    let lies = Lie.allCases.filter { !$0.leavesParentWaiting }
    let exhaustions: [Exhaustion] = [.memory, .threads, .descriptors, .crash]
    let orders =
      Attempt.all.map { ("attempt", $0.name) } + lies.map { ("lie", $0.rawValue) }
      + exhaustions.map { ("exhaust", $0.rawValue) }
    for (number, order) in orders.enumerated() {
      try picture("\(order.0)\n\(order.1)\n\(file.path)\n").write(to: folder.appendingPathComponent("\(number).jpg"))
      try picture("a good one").write(to: folder.appendingPathComponent("\(number)-good.jpg"))
    }
    let before = try FileManager.default.contentsOfDirectory(atPath: bench.directory.path).sorted()
    let linked = Self.programs.appendingPathComponent("attacked-\(UUID())")
    defer { try? FileManager.default.removeItem(at: linked) }
    let run = try await bench.start(
      ["convert", "pictures", "--size", "40", "--format", "png", "-o", "out", "--json"],
      launcher: try launcher(in: linked)
    ).run()
    #expect(run.status == 1, "\(run.stderr)")
    var made: Set<String> = []
    for line in run.lines {
      let entry = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      guard let source = entry["source"] as? String else { continue }
      let name = URL(fileURLWithPath: source).lastPathComponent
      let message = (entry["error"] as? [String: Any])?["message"] as? String ?? ""
      if entry["status"] as? String == "converted" { made.insert(name) }
      #expect(!message.contains("done: ") && !message.contains("no such "), "\(name): \(message)")
    }
    let good = Set(orders.indices.map { "\($0)-good.jpg" })
    #expect(made == good, "\(made.symmetricDifference(good).sorted())")
    #expect(try Data(contentsOf: file) == secret)
    let after = try FileManager.default.contentsOfDirectory(atPath: bench.directory.path).sorted()
    #expect(after == (before + ["out"]).sorted())
  }
}
