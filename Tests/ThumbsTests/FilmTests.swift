import TestSupport

@testable import CodecTestSupport
@testable import FolderConversion
@testable import ThumbnailCore

private let hasFFmpeg = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg")

/// Posters of films, by `thumbs convert --videos` and `thumbs desktop`.
@Suite(
  .serialized, .enabled(if: hasFFmpeg, "ffmpeg is not installed"), .timeLimit(.minutes(10)))
struct FilmTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
    _ = try bench.folder("films")
  }

  /// Makes a film in `films`.
  private func make(_ name: String, _ arguments: String...) throws { try make(name, arguments) }

  private func make(_ name: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/ffmpeg")
    process.arguments = ["-v", "error", "-nostdin", "-y"] + arguments + [name]
    process.currentDirectoryURL = bench.url("films")
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(arguments)")
  }

  private func makeGreen(_ name: String, size: String = "160x120", _ arguments: [String] = ["-c:v", "mpeg4"]) throws {
    try make(name, ["-f", "lavfi", "-i", "color=0x00C000:s=\(size):d=2:r=10"] + arguments)
  }

  private func convert(_ arguments: String..., path: String = "/usr/bin:/bin") async throws -> ConvertSummary {
    let run = try await bench.start(
      ["convert", "--videos", "--json", "--size", "64", "--format", "png", "--output", "out", "films"] + arguments,
      environment: ["PATH": path]
    ).run()
    let last = try #require(run.lines.last, "nothing on stdout; stderr: \(run.stderr)")
    return try #require(try JSONDecoder().decode([String: ConvertSummary].self, from: Data(last.utf8))["summary"])
  }

  /// The size of a thumbnail and the colour in its middle.
  private func poster(_ name: String) throws -> (width: Int, height: Int, colour: [UInt8]) {
    let pixels = try DecodedPixels(Data(contentsOf: bench.url("out/\(name).png")))
    let (width, height) = (pixels.size.width, pixels.size.height)
    return (width, height, pixels[width / 2, height / 2])
  }

  @Test func eachKindOfFilmHasAPoster() async throws {
    let names = ["a.mp4", "b.mov", "c.mkv", "d.avi", "e.mpg", "f.ts.mts"]
    for name in names {
      try makeGreen(name, name.hasSuffix("mts") ? ["-f", "mpegts", "-c:v", "mpeg2video", "-r", "25"] : ["-r", "25"])
    }
    let summary = try await convert()
    #expect(summary.converted == names.count && summary.failed == 0)
    for name in ["a", "b", "c", "d", "e", "f.ts"] {
      let (width, height, colour) = try poster(name)
      #expect(width == 64 && height == 48 && colour[1] > 150 && colour[0] < 60, "\(name): \(width)x\(height) \(colour)")
    }
    #expect(try await convert().current == names.count)
  }

  @Test func theFrameIsNotBlackThoughOneKeyframeIsAllThatThereIs() async throws {
    for name in ["late.mp4", "late.mkv", "late.avi"] {
      try make(
        name, "-f", "lavfi", "-i",
        "color=black:s=160x120:d=2:r=10[a];color=0x00C000:s=160x120:d=1[b];color=red:s=160x120:d=27[c];[a][b][c]concat=3",
        "-c:v", "mpeg4", "-g", "600", "-sc_threshold", "1000000000")
    }
    #expect(try await convert("--name", "{name}-{oldext}.{ext}").converted == 3)
    for name in ["late-mp4", "late-mkv", "late-avi"] {
      let colour = try poster(name).colour
      #expect(colour[1] > 150 && colour[0] < 60, "\(name): \(colour)")
    }
  }

  @Test func aFilmThatIsBlackHasABlackPoster() async throws {
    try make("night.mp4", "-f", "lavfi", "-i", "color=black:s=160x120:d=2:r=10", "-c:v", "mpeg4")
    #expect(try await convert().converted == 1)
    #expect(try poster("night").colour.prefix(3).allSatisfy { $0 < 32 })
  }

  @Test func aTurnedFilmIsUprightAndWidePixelsAreSquare() async throws {
    try makeGreen("wide.mp4", ["-c:v", "mpeg4", "-vf", "setsar=2"])
    try makeGreen("turned.mp4")
    // The matrix of the track's header: a quarter turn.
    let url = bench.url("films/turned.mp4")
    var bytes = Array(try Data(contentsOf: url))
    let header = try #require(bytes.firstRange(of: Array("tkhd".utf8))).upperBound
    let matrix = [0, 0x10000, 0, -0x10000, 0, 0, 120 << 16, 0, 0x4000_0000]
    let data = matrix.flatMap { number in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
    bytes.replaceSubrange(header + 40..<header + 76, with: data)
    try Data(bytes).write(to: url)
    #expect(try await convert().converted == 2)
    let (wide, turned) = (try poster("wide"), try poster("turned"))
    #expect(wide.width == 64 && wide.height == 24)
    #expect(turned.width == 48 && turned.height == 64)
  }

  @Test func theEmbeddedCoverComesFirst() async throws {
    try makeGreen("plain.mp4")
    try make("../cover.png", "-f", "lavfi", "-i", "color=red:s=90x90:d=1:r=1", "-frames:v", "1")
    try make(
      "covered.mp4", "-i", "plain.mp4", "-i", "../cover.png", "-map", "0", "-map", "1", "-c", "copy",
      "-disposition:v:1", "attached_pic")
    try make(
      "attached.mkv", "-i", "plain.mp4", "-c", "copy", "-attach", "../cover.png", "-metadata:s:t", "mimetype=image/png",
      "-metadata:s:t", "filename=cover.png")
    // A cover that cannot be shown counts for nothing.
    var bytes = Array(try Data(contentsOf: bench.url("films/covered.mp4")))
    let signature = try #require(bytes.firstRange(of: [0x89, 0x50, 0x4E, 0x47]))
    bytes.replaceSubrange(signature, with: [1, 2, 3, 4])
    try Data(bytes).write(to: bench.url("films/broken.mp4"))
    #expect(try await convert().converted == 4)
    for name in ["covered", "attached"] {
      let (width, height, colour) = try poster(name)
      #expect(width == 64 && height == 64 && colour[0] > 200 && colour[1] < 60, "\(name)")
    }
    #expect(try poster("broken").colour[1] > 150)
  }

  @Test func eachBadFilmCostsItsOwnPosterAndLeavesNoProcess() async throws {
    try makeGreen("good.mp4")
    let whole = try Data(contentsOf: bench.url("films/good.mp4"))
    try Data().write(to: bench.url("films/empty.mp4"))
    try whole.prefix(whole.count / 2).write(to: bench.url("films/cut.mp4"))
    try make("sound.mp4", "-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac")
    try Data("#EXTM3U\n#EXTINF:1,\nfile:good.mp4\n".utf8).write(to: bench.url("films/list.mp4"))
    try Data("ffconcat version 1.0\nfile good.mp4\n".utf8).write(to: bench.url("films/concat.mkv"))
    // A Matroska file whose elements lie about their lengths.
    try Data([0x1A, 0x45, 0xDF, 0xA3, 0x01] + [UInt8](repeating: 0xFF, count: 64)).write(
      to: bench.url("films/lies.mkv"))
    let run = try await bench.start(
      ["convert", "--videos", "--json", "--size", "64", "--output", "out", "films"]).run()
    #expect(run.status == 1)
    for name in ["empty.mp4", "cut.mp4", "sound.mp4", "list.mp4", "concat.mkv", "lies.mkv"] {
      let line = try #require(run.lines.first { $0.contains("/\(name)\"") || $0.contains("films/\(name)") })
      #expect(line.contains(#""status":"failed""#), "\(line)")
    }
    #expect(run.lines.contains { $0.contains("sound.mp4") && $0.contains("no video") })
    #expect(bench.isFile("out/good.jpg"))
  }

  @Test func aFrameBeyondTheLimitsIsRefused() async throws {
    try makeGreen("huge.mkv", size: "64x64", ["-c:v", "mjpeg"])
    var bytes = Array(try Data(contentsOf: bench.url("films/huge.mkv")))
    // The JPEG's own header says 16,384 pixels a side.
    var changed = 0
    for start in bytes.indices.dropLast(9) where bytes[start] == 0xFF && bytes[start + 1] == 0xC0 {
      bytes.replaceSubrange(start + 5..<start + 9, with: [0x40, 0, 0x40, 0])
      changed += 1
    }
    try #require(changed > 0)
    try Data(bytes).write(to: bench.url("films/huge.mkv"))
    #expect(try await convert().failed == 1)
  }

  @Test func withoutFFmpegFilmsAreSkippedAndCounted() async throws {
    try makeGreen("a.mp4")
    let summary = try await convert(path: "/nowhere")
    #expect(summary.skipped == 1 && summary.failed == 0 && summary.converted == 0)
  }

  @Test func aPictureThatIsNamedLikeAFilmIsAPicture() async throws {
    try Data(TestImages.bytes("formats/jpeg-420.jpg")).write(to: bench.url("films/a.mp4"))
    #expect(try await convert().converted == 1)
    #expect(try await bench.run("desktop", "--one", "films/a.mp4", "out.png", "64").status == 0)
  }

  /// Otherwise `desktop` would never look at the films again.
  @Test func anFFmpegThatFailsWithoutAWordIsNoFaultOfTheFilm() async throws {
    try makeGreen("a.mp4")
    _ = try bench.folder("bin")
    try FileManager.default.createSymbolicLink(atPath: bench.url("bin/ffmpeg").path, withDestinationPath: "/bin/false")
    let broken = try await bench.start(["desktop", "films"], environment: ["PATH": bench.url("bin").path]).run()
    #expect(broken.status == 1 && broken.stderr.contains("ends with exit status 1"), "\(broken.stderr)")
    #expect(try await bench.run("desktop", "films").lines.last?.contains("1 made") == true)
  }

  @Test func fileManagersGetPostersOfFilms() async throws {
    try makeGreen("a.mp4")
    let run = try await bench.run("desktop", "--one", "films/a.mp4", "out.png", "64")
    #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
    #expect(PNGTexts.read(RawPath(bench.url("out.png").path))?["Thumb::Mimetype"] == "video/mp4")
    #expect(try await bench.run("desktop", "films").status == 0)
    let made = try bench.files("xdg/thumbnails")
    #expect(made.count == 4)
    let texts = made.keys.map { PNGTexts.read(RawPath(bench.url("xdg/thumbnails/\($0)").path)) }
    #expect(texts.allSatisfy { $0?["Thumb::URI"]?.hasSuffix("/films/a.mp4") == true })
  }

  @Test func theProcessOfAFilmReachesNothingElse() async throws {
    try Data("film".utf8).write(to: bench.url("film"))
    try Data("secret".utf8).write(to: bench.url("secret"))
    #expect(try confined("/usr/bin/cat", "/dev/fd/0") == "film")
    #expect(try confined("/usr/bin/cat", bench.url("secret").path).isEmpty)
    #expect(try confined("/usr/bin/touch", bench.url("new").path).isEmpty && !bench.isFile("new"))
    #expect(try confined("/usr/bin/tee", bench.url("film").path) == "film")
    #expect(try Data(contentsOf: bench.url("film")) == Data("film".utf8))
    // No process: the shell runs what it knows, and can start nothing.
    #expect(try confined("/usr/bin/dash", "-c", "echo one; (echo two)") == "one\n")
    // No network: its own has no way to this machine's.
    let script = "import socket; socket.socket(); print('reached')"
    #expect(try confined("/usr/bin/python3", "-c", script).isEmpty)
  }

  /// The output of a program in a film's confinement.
  private func confined(_ program: String, _ arguments: String...) throws -> String {
    let helper = HelperBench.executable.deletingLastPathComponent().appendingPathComponent("thumbs-decode")
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = helper
    let settings = ["\(getpid())", "\(256 << 20)", "10", program]
    process.arguments = ["film-helper"] + settings + arguments
    process.standardInput = try FileHandle(forReadingFrom: bench.url("film"))
    (process.standardOutput, process.standardError) = (pipe, FileHandle.nullDevice)
    try process.run()
    let told = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return told
  }
}
