/// That the command decodes nothing itself: its helpers do, whatever the format and whoever's the picture.
@Suite(.serialized, .timeLimit(.minutes(5))) struct NoDecoderTests {
  private let bench: Bench
  private let pictures = TestImages.url("formats").path

  init() throws { bench = try Bench() }

  private func convert(_ environment: [String: String]) async throws -> Run {
    try await bench.process(
      "convert", pictures, "-o", "made", "--size", "64", "--format", "jpeg", environment: environment)
  }

  /// Decodes the same in its own process.
  private func decodeInProcess(_ environment: [String: String]) async throws -> Run {
    let lines = try FileManager.default.contentsOfDirectory(atPath: pictures).map {
      "{\"path\":\"\(pictures)/\($0)\"}\n"
    }
    return try await bench.start(
      ["worker", "--isolate", "off"], environment: environment, input: .bytes(Data(lines.joined().utf8))
    ).run()
  }

  @Test func itLoadsNoLibraryThatDecodes() async throws {
    // The dynamic loader tells of each file; helpers do not get the variable.
    func loaded() async throws -> [String] {
      let run = try await convert(["LD_DEBUG": "files"])
      return run.stderr.split(separator: "\n").filter { line in
        ["libvips", "libheif", "libde265", "libdav1d", "libtiff", "libopenjp2", "librsvg", "libpoppler"]
          .contains { line.contains($0) }
      }.map { String($0) }
    }
    #expect(try await loaded() == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.url("made").path).count > 100)
    let inProcess = try await decodeInProcess(["LD_DEBUG": "files"])
    #expect(inProcess.stderr.contains("libvips"))
  }

  /// The functions by which libjpeg, libwebp and ISA-L decode, each of which ends the process.
  private static let traps = """
    #include <stdlib.h>
    #include <unistd.h>
    #define TRAP(name) void name(void) { write(2, #name " was called\\n", sizeof #name " was called\\n" - 1); abort(); }
    TRAP(jpeg_read_header) TRAP(jpeg_start_decompress) TRAP(jpeg_read_scanlines) TRAP(jpeg_read_raw_data)
    TRAP(jpeg_read_coefficients) TRAP(WebPDecode) TRAP(WebPINewDecoder) TRAP(WebPINewRGB) TRAP(WebPIDecode)
    TRAP(WebPIAppend) TRAP(WebPIUpdate) TRAP(isal_inflate) TRAP(isal_inflate_stateless)
    """

  @Test func itCallsNoFunctionThatDecodes() async throws {
    try Data(Self.traps.utf8).write(to: bench.url("traps.c"))
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = ["clang", "-shared", "-fPIC", "-o", bench.url("traps.so").path, bench.url("traps.c").path]
    try compiler.run()
    compiler.waitUntilExit()
    #expect(compiler.terminationStatus == 0)
    let traps = ["LD_PRELOAD": bench.url("traps.so").path, "SWIFT_BACKTRACE": "enable=no"]
    let run = try await convert(traps)
    #expect(run.status == 0, "\(run.stderr.suffix(500))")
    // Nor where it reduces what it has stored.
    for size in ["400x400", "100x100"] {
      let run = try await bench.process(
        "get", TestImages.url("gallery/alps/spring-meadow.jpg").path, "--size", size, "-o", "\(size).jpg",
        environment: traps)
      #expect(run.status == 0, "\(run.stderr)")
    }
    let inProcess = try await decodeInProcess(traps)
    #expect(inProcess.status != 0 && inProcess.stderr.contains("was called"))
  }
}
