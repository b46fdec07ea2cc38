/// The version: `ThumbnailPipeline.version` is the place for it, and all others have the same.
struct VersionTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The first text that a pattern finds in a file of the project.
  private func first(_ pattern: Regex<(Substring, Substring)>, in path: String) throws -> String? {
    let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    return text.firstMatch(of: pattern).map { String($0.output.1) }
  }

  @Test func theVersionIsASemanticVersion() {
    #expect(ThumbnailPipeline.version.wholeMatch(of: #/\d+\.\d+\.\d+/#) != nil)
  }

  @Test func theNewestEntryOfTheChangelogIsOfThisVersionAndHasADay() throws {
    let heading = try first(#/(?m)^## (\S+ \(\d{4}-\d\d-\d\d\))$/#, in: "CHANGELOG.md")
    #expect(heading?.hasPrefix("\(ThumbnailPipeline.version) (") == true, "\(heading ?? "no entry")")
  }

  @Test func thePythonPackageHasTheSameVersion() throws {
    let folder = "integrations/python"
    #expect(try first(#/(?m)^version = "(.+)"$/#, in: "\(folder)/pyproject.toml") == ThumbnailPipeline.version)
    let module = "\(folder)/src/thumbs_worker/__init__.py"
    #expect(try first(#/(?m)^__version__ = "(.+)"$/#, in: module) == ThumbnailPipeline.version)
  }
}
