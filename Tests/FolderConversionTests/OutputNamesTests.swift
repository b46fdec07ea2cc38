import Testing

@testable import Exports
@testable import FolderConversion
@testable import ThumbnailCore

@Suite struct OutputNamesTests {
  private func paths(_ name: String, written: ImageFormat, _ format: OutputFormat) -> [String] {
    var options = FolderConverter.Options(inputs: [], output: "out")
    options.format = format
    let names = OutputNames(options)
    let source = NamingTemplate.Source(
      folder: Array("x/".utf8), name: Array(name.utf8), absolutePath: RawPath("/x/\(name)"))
    guard let planned = names.planned(for: source) else { return [] }
    return names.paths(for: source, planned: planned, written: [written]).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func theNamesAreFilledInWithWhatWasWritten() {
    #expect(paths("a.b.jpeg", written: .webp, .auto) == ["x/a.b.webp"])
    #expect(paths("a.gif", written: .png, .png) == ["x/a.png"])
  }

  @Test func underSameTheEndStaysUnlessItLies() {
    #expect(paths("a.JPEG", written: .jpeg, .same) == ["x/a.JPEG"])
    #expect(paths("a.gif", written: .gif, .same) == ["x/a.gif"])
    #expect(paths("a.png", written: .jpeg, .same) == ["x/a.jpg"])
    #expect(paths("a.heic", written: .jpeg, .same) == ["x/a.jpg"])
  }

  @Test func aNameThatIsAnothersCanNotBeTakenLater() {
    let claims = ClaimedNames([:])
    #expect(claims.claim([1], for: 0) && claims.claim([1], for: 0) && !claims.claim([1], for: 1))
  }
}
