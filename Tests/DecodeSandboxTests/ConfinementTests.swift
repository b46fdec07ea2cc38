@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import ImageCodec

/// The walls around a helper: which there are, and what decoders still get to see.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ConfinementTests {
  private static let programs = HelperBench.executable.deletingLastPathComponent()
  private static let picture = Array("P5\n4 2\n255\n12345678".utf8)

  /// A helper as on a kernel without a system call.
  private func helper(without part: String, in directory: TemporaryDirectory) throws -> URL {
    let file = directory.url.appendingPathComponent("helper")
    let source = directory.url.appendingPathComponent("text")
    let (attack, thumbs) = (Self.programs.path + "/AttackHelper", Self.programs.path + "/thumbs")
    let script = "#!/bin/sh\nexec '\(attack)' without \(part) '\(thumbs)' \"$@\"\n"
    try Data(script.utf8).write(to: source)
    // Written by another process, since one that we have open for writing cannot be started.
    let copy = try Process.run(
      URL(fileURLWithPath: "/usr/bin/install"), arguments: ["-m", "755", source.path, file.path])
    copy.waitUntilExit()
    return file
  }

  @Test func thisMachineHasAllWalls() throws {
    #expect(try HelperBench().pool.gaps().filter(\.isGrave) == [])
    #expect(DecodeIsolation.gapsOfThisMachine == [])
  }

  @Test(arguments: [
    ("seccomp", ConfinementGap.Part.systemCalls), ("landlock", .files), ("namespaces", .namespaces),
  ])
  func aHelperSaysWhatItsKernelLacksAndDecodes(without: String, part: ConfinementGap.Part) async throws {
    let directory = try TemporaryDirectory()
    let executable = try helper(without: without, in: directory)
    let bench = HelperBench(executable)
    #expect(try bench.pool.gaps().map(\.part) == [part])
    _ = try #require(try await bench.render(Self.picture, .pnm).first).get()
    var isolation = bench.isolation
    isolation.requiresConfinement = true
    let strict = HelperPool(isolation)
    guard part != .namespaces else {
      #expect(try strict.gaps().count == 1)
      return
    }
    do throws(CodecError) {
      _ = try strict.gaps()
      Issue.record("a helper without \(without) was taken")
    } catch {
      guard case .helperFailed(.notConfined) = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test func aDrawingHasItsTextAndTheImagesInIt() async throws {
    let gif = "R0lGODlhAQABAIAAAAAA/wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
    let drawing = """
      <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="100">\
      <rect width="200" height="100" fill="white"/><text x="5" y="80" font-size="90">MMM</text>\
      <image x="150" width="50" height="50" xlink:href="data:image/gif;base64,\(gif)"/></svg>
      """
    let variant = Variant(size: PixelSize(200, 100), fit: .contain, format: .png)
    let thumbnail = try #require(try await HelperBench().render(Array(drawing.utf8), .svg, [variant]).first).get()
    try Codec.start()
    let pixels = try DecodedPixels(thumbnail.data)
    #expect((0..<140).contains { pixels.isNear([0, 0, 0], $0, 60, tolerance: 60) }, "there is no text")
    #expect(pixels.isNear([0, 0, 255], 175, 25, tolerance: 40), "there is no image in the drawing")
  }

  @Test(arguments: ["windows-1252", "iso-8859-15", "iso-8859-2", "windows-1251", "utf-8", "iso-8859-1"])
  func aDrawingMayBeInAnOldEncoding(_ encoding: String) async throws {
    let drawing = """
      <?xml version="1.0" encoding="\(encoding)"?>\
      <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10"/></svg>
      """
    #expect(try await HelperBench().failure(Array(drawing.utf8), .svg) == nil)
  }

  @Test func textInAPageIsDrawn() async throws {
    let content = "BT /F 90 Tf 10 20 Td (MMM) Tj ET"
    let page = """
      %PDF-1.4
      1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
      2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
      3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F<</Type/Font\
      /Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj
      4 0 obj<</Length \(content.utf8.count)>>stream
      \(content)
      endstream endobj
      trailer<</Root 1 0 R>>
      """
    let variant = Variant(size: PixelSize(200, 100), fit: .contain, format: .png)
    let thumbnail = try #require(try await HelperBench().render(Array(page.utf8), .pdf, [variant]).first).get()
    try Codec.start()
    let pixels = try DecodedPixels(thumbnail.data)
    #expect((0..<200).contains { pixels.isNear([0, 0, 0], $0, 50, tolerance: 60) }, "there is no text")
  }

  @Test func aFileOnDiskIsReadByEveryDecoder() async throws {
    let directory = try TemporaryDirectory()
    let pool = HelperBench().pool
    let variant = Variant(size: PixelSize(40, 40))
    for (name, format) in [
      ("openexr.exr", ImageFormat.openEXR), ("bmp.bmp", .bmp), ("pdf.pdf", .pdf), ("heic.heic", .heif),
    ] {
      let bytes = try TestImages.bytes("formats/\(name)")
      let file = directory.url.appendingPathComponent(name)
      try bytes.write(to: file)
      let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
      let body = ByteSource.file(FileDescriptor(owning: descriptor), count: bytes.count)
      let result = pool.decode(
        body, HelperRequest(format, [variant]), cancellation: CancellationFlag()
      ).results.first?.result
      #expect(throws: Never.self) { try #require(result).get() }
    }
  }

  @Test func aHelperDumpsNoCoreAndItsComputingTimeIsLimited() async throws {
    let bench = HelperBench(deadline: .seconds(300))
    _ = try #require(try await bench.render(Self.picture, .pnm).first).get()
    let pid = try #require(bench.pool.waiting.first)
    let limits = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
    let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max cpu time") })
    let seconds = try #require(line.split(separator: " ").dropFirst(3).first.flatMap { Int($0) })
    #expect((305...315).contains(seconds), "\(line)")
    #expect(limits.contains(/Max core file size +0 +0/))
  }

  @Test func aProgramHidesItselfFromOthers() throws {
    let process = Process()
    process.executableURL = Self.programs.appendingPathComponent("AttackHelper")
    process.arguments = ["hide"]
    #expect(try process.printed() == "false true\n")
  }
}
