/// Readers are compared with other programs: a test that compares with one library inherits its faults.
///
/// Needs numpy, Pillow and tifffile; `Tests/Opinions/opinions.py` tells what other programs it asks where they are.
@Suite(.timeLimit(.minutes(5))) struct SecondOpinionTests {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../Opinions/opinions.py").standardizedFileURL.path
  /// The first Python that has the packages. That of the system may have them where another one is first in `PATH`.
  private static let python = ["/usr/bin/python3", "python3"].first {
    (try? run([$0, "-c", "import numpy, PIL, tifffile"]).status) == 0
  }

  private static let hasAllPrograms = ["convert-im6.q16", "ffmpeg", "avifdec", "rsvg-convert"].allSatisfy {
    (try? run(["which", $0]).status) == 0
  }

  @Test(
    .enabled(if: python != nil, "numpy, Pillow or tifffile is missing"),
    arguments: ["jpeg2000", "tiff", "others", "drawings", "light", "photographs"])
  func whatIsReadIsThePictureAndWhatOthersRead(group: String) throws {
    let python = try #require(Self.python)
    let run = try Self.run([python, Self.script, ThumbsProcess.executable, group])
    #expect(run.status == 0, "\(run.text)")
  }

  @Test(
    .enabled(if: python != nil, "numpy, Pillow or tifffile is missing"),
    .enabled(if: SharedCorpus.isPresent, "the shared corpus is absent"),
    // Where few are asked, the only opinion may be a wrong one.
    .enabled(if: hasAllPrograms, "ImageMagick, ffmpeg, avifdec or rsvg-convert is missing"))
  func realPicturesAreReadAsOthersReadThem() throws {
    let python = try #require(Self.python)
    let folder = SharedCorpus.root.appending(path: "good").path
    let run = try Self.run([
      "OPINIONS_CORPUS=\(folder)", python, Self.script, ThumbsProcess.executable, "corpus",
    ])
    #expect(run.status == 0, "\(run.text)")
  }

  private static func run(_ command: [String]) throws -> (status: Int32, text: String) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    (process.standardOutput, process.standardError) = (pipe, pipe)
    try process.run()
    let text = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: text, as: UTF8.self))
  }
}
