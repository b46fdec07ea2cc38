import TestSupport

@testable import ThumbnailWorker

/// Archives as other programs read them.
@Suite struct TarHeaderTests {
  private func names(in archive: [UInt8]) throws -> [String: Data] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tar-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(archive).write(to: folder.appendingPathComponent("a.tar"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/tar")
    process.currentDirectoryURL = folder
    process.arguments = ["xf", "a.tar"]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    try FileManager.default.removeItem(at: folder.appendingPathComponent("a.tar"))
    var files: [String: Data] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let url = folder.appendingPathComponent(path)
      if !url.hasDirectoryPath, let data = try? Data(contentsOf: url) { files[path] = data }
    }
    return files
  }

  @Test func tarReadsWhatWasWritten() throws {
    let long = String(repeating: "k", count: 190) + "/" + String(repeating: "é", count: 20) + ".jpg"
    let files: [String: [UInt8]] = [
      "a.jpg": [1, 2, 3], "é/b.txt": [], "c.json": Array(repeating: 7, count: 512),
      long: Array(repeating: 9, count: 513),
      String(repeating: "n", count: 100): [5], String(repeating: "m", count: 101): [6],
    ]
    var archive: [UInt8] = []
    for (name, content) in files { TarHeader.append(name, content, to: &archive) }
    #expect(archive.count % TarHeader.blockLength == 0)
    #expect(try names(in: archive + TarHeader.end) == files.mapValues { Data($0) })
  }

  @Test func anEmptyArchiveIsOne() throws { #expect(try names(in: TarHeader.end).isEmpty) }

  @Test func aHeaderDependsOnNameAndLengthAlone() {
    var (one, other): ([UInt8], [UInt8]) = ([], [])
    TarHeader.append("a", [1], to: &one)
    TarHeader.append("a", [1], to: &other)
    #expect(one == other)
    let fields = one[100..<148].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    #expect(fields == ["0000644", "0000000", "0000000", "00000000001", "00000000000"])
  }
}
