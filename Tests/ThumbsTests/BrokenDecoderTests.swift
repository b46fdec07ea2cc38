@testable import ThumbnailCore

/// Libraries that decode, each replaced by one that misbehaves in the middle of an image: that costs the image, is told,
/// and leaves no process.
@Suite(.serialized, .beforeARelease, .timeLimit(.minutes(5))) struct BrokenDecoderTests {
  /// A library, a function of it that decoding a picture calls, and the picture.
  struct Decoder: Sendable, CustomStringConvertible {
    let library: String
    let function: String
    let picture: String
    /// The versions of its functions, the first that of this one.
    var versions: [String] = []

    var description: String { library }
  }

  private static let decoders = [
    Decoder(
      library: "libjpeg.so.62", function: "jpeg_start_decompress", picture: "jpeg-420.jpg",
      versions: ["LIBJPEG_6.2", "LIBJPEGTURBO_6.2"]),
    Decoder(library: "libwebp.so.7", function: "WebPDecode", picture: "webp-lossy.webp"),
    Decoder(library: "libisal.so.2", function: "isal_inflate", picture: "png-rgb.png"),
    Decoder(
      library: "libtiff.so.6", function: "TIFFReadEncodedStrip", picture: "tiff-strips.tif",
      versions: ["LIBTIFF_4.0", "LIBTIFF_4.1", "LIBTIFF_4.2", "LIBTIFF_4.3", "LIBTIFF_4.4", "LIBTIFF_4.5"]),
    Decoder(library: "libde265.so.0", function: "de265_push_NAL", picture: "heic.heic"),
    Decoder(library: "libdav1d.so.6", function: "dav1d_send_data", picture: "avif.avif"),
    Decoder(library: "librsvg-2.so.2", function: "rsvg_handle_new_from_stream_sync", picture: "svg.svg"),
    Decoder(library: "libopenjp2.so.7", function: "opj_create_decompress", picture: "jpeg2000.jp2"),
  ]

  /// What it does instead of decoding.
  enum Fault: String, CaseIterable, Sendable {
    case crashes = "abort();"
    case neverEnds = "for (;;) {}"
    case fillsMemory = "for (;;) { char *more = malloc(1 << 20); if (!more) abort(); memset(more, 1, 1 << 20); }"
    case writesOutOfBounds = "static volatile char small[16]; for (long place = 0;; place++) small[place] = 7;"
  }

  private let bench: Bench

  init() throws { bench = try Bench() }

  /// Puts a library into a folder that does all that the real one does, but for one function. The real one lies beside
  /// it under another name.
  private func replace(_ decoder: Decoder, _ fault: Fault, in folder: URL) throws {
    let real = try #require(
      ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        .map { "\($0)/\(decoder.library)" }.first(where: { FileManager.default.fileExists(atPath: $0) }))
    // Of the same length, so that it can be replaced in the file.
    let other = decoder.library.dropLast() + "x"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: real))
    let name = Data("\0\(decoder.library)\0".utf8)
    while let range = bytes.range(of: name) { bytes.replaceSubrange(range, with: Data("\0\(other)\0".utf8)) }
    let copy = folder.appendingPathComponent("\(other)")
    try bytes.write(to: copy)
    let source = folder.appendingPathComponent("fault.c")
    try Data(
      "#include <stdlib.h>\n#include <string.h>\nlong \(decoder.function)(void) { \(fault.rawValue) }\n".utf8
    ).write(to: source)
    // Who is linked to the real one asks for its versions; the functions are found in the copy.
    let versions = folder.appendingPathComponent("versions")
    let nodes = decoder.versions.enumerated().map { index, name in
      "\(name) { \(index == 0 ? "global: \(decoder.function);" : "") };\n"
    }
    try Data(nodes.joined().utf8).write(to: versions)
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = [
      "clang", "-O1", "-w", "-shared", "-fPIC", "-o", folder.appendingPathComponent(decoder.library).path, source.path,
      copy.path,
    ]
    if !nodes.isEmpty { compiler.arguments?.append("-Wl,--version-script=\(versions.path)") }
    try compiler.run()
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0)
  }

  @Test(arguments: Fault.allCases) func aDecoderThatMisbehavesCostsThePicture(_ fault: Fault) async throws {
    let (libraries, pictures) = (try bench.folder("libraries"), try bench.folder("pictures"))
    for decoder in Self.decoders { try replace(decoder, fault, in: libraries) }
    // Two of other readers, so that they are made with the helper's successor.
    for name in Self.decoders.map(\.picture) + ["bmp.bmp", "gif-still.gif"] {
      try FileManager.default.copyItem(at: TestImages.url("formats/\(name)"), to: pictures.appendingPathComponent(name))
    }
    let run = try await bench.process(
      "convert", "pictures", "-o", "small", "--size", "100",
      environment: ["LD_LIBRARY_PATH": libraries.path])
    #expect(run.status == 1, "\(run.stderr)")
    for decoder in Self.decoders {
      #expect(run.complaints.contains { $0.contains("\(decoder.picture): ") && $0.contains("decode") }, "\(run.stderr)")
    }
    let text = run.lines.joined(separator: "\n") + run.stderr
    #expect(text.contains("2 made") && text.contains("\(Self.decoders.count) failed"), "\(text)")
    // Whatever ran for this folder has its libraries mapped.
    // Real time: the kernel takes a moment to end what was killed.
    #expect(await eventually { Self.processes(mapping: libraries.path).isEmpty })
  }

  /// The processes that have a file below a folder mapped.
  private static func processes(mapping folder: String) -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.filter { Int($0) != nil }.filter { pid in
      KernelFile.text("/proc/\(pid)/maps")?.contains(folder) == true
    }
  }
}
