/// Caches and folders of earlier minor versions, as `Scripts/make-test-cache` made them.
@Suite(.timeLimit(.minutes(2))) struct EarlierVersionTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Caches")

  @Test func theThumbnailsOfEachEarlierMinorVersionAreUsedOn() async throws {
    let versions = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(versions.contains("0.9") && versions.contains("0.10"))
    for version in versions {
      let bench = try Bench()
      try FileManager.default.createDirectory(at: bench.cache, withIntermediateDirectories: true)
      let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: version).path)
      for file in files where file.hasSuffix(".earlier") {
        // Its name in the repository is not that of a cache in use, which must not be committed.
        let name = file.replacingOccurrences(of: ".earlier", with: ".sqlite")
        try FileManager.default.copyItem(
          at: Self.folder.appending(path: version).appending(path: file), to: bench.cache.appending(path: name))
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: bench.cache.path)
      let list = ["jpeg-420.jpg", "heic.heic"].map { "http://127.0.0.1:38417/\($0)\n" }.joined()
      let run = try await bench.run(
        ["prefetch", "--urls", "-", "--size", "64", "--size", "96x96", "--fit", "cover", "--offline", "--json"],
        input: .bytes(Data(list.utf8)))
      let summary = try #require(run.lines.last)
      #expect(run.status == 0 && run.stderr.isEmpty, "\(version): \(run.stderr)")
      #expect(summary.contains(#""hits":2,"#) && summary.contains(#""failed":0,"#), "\(version): \(summary)")
      #expect(try CacheFile(bench.cache).isWhole(), "\(version)")
      let pruned = try await bench.run("cache", "prune", "--older-than", "0")
      #expect(pruned.lines.first?.hasPrefix("removed 4 thumbnails") == true, "\(version): \(pruned.stderr)")
    }
  }

  @Test func whatEarlierVersionsConvertedIsNotMadeAgain() async throws {
    let bench = try Bench()
    let archive = Self.folder.appending(path: "0.10/folders.tar.gz").path
    try Process.run(URL(fileURLWithPath: "/usr/bin/tar"), arguments: ["-xzf", archive, "-C", bench.directory.path])
      .waitUntilExit()
    for (command, arguments) in [("convert", ["--size", "64", "--size", "96x96"]), ("site", [])] {
      let output = command == "convert" ? "converted" : "site"
      let index = bench.url("\(output)/.thumbs-index")
      let text = try String(contentsOf: index, encoding: .utf8).replacing("/FOLDER/", with: bench.directory.path + "/")
      try text.write(to: index, atomically: true, encoding: .utf8)
      func thumbnails() throws -> [String: Data] { try bench.files(output).filter { $0.key.hasSuffix(".jpg") } }
      let before = try thumbnails()
      let run = try await bench.run(
        [command, "pictures", "--output", output, "--json", "--delete-orphans", "--yes"] + arguments)
      #expect(run.status == 0 && run.stderr.isEmpty, "\(command): \(run.stderr)")
      #expect(run.lines.last?.contains(#""converted":0,"current":2,"#) == true, "\(command): \(run.stdout)")
      #expect(try thumbnails() == before && before.count == 4, "\(command)")
    }
  }
}
