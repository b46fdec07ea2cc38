import Foundation
import Testing

@testable import PhotoSources
@testable import TestSupport
@testable import ThumbnailCore

/// The images of a folder at once: by month, by name, and as the folder changes.
@Suite(.timeLimit(.minutes(1)))
struct FolderIndexTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("index-\(UUID())", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func add(_ path: String, _ day: String = "2026-03-10") throws {
    let file = folder.appendingPathComponent(path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data([1]).write(to: file)
    let date = try #require(ISO8601DateFormatter().date(from: day + "T12:00:00Z"))
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
  }

  private func ids(_ arrangement: FolderArrangement) throws -> [String] {
    try arrangement.photos(in: 0..<arrangement.count).map(\.photo.id)
  }

  @Test func theLastChangedComeFirstInASectionForEachMonth() async throws {
    try add("b/old.jpg", "2025-12-31")
    try add("a/new.jpg", "2026-03-20")
    try add("a/middle.png", "2026-03-01")
    try add("a/notes.txt")
    let arrangement = try await FolderIndex(path: folder.path).arrangement(of: "", order: .date)
    #expect(try ids(arrangement) == ["a/new.jpg", "a/middle.png", "b/old.jpg"])
    #expect(arrangement.sections == [.init(title: "March 2026", count: 2), .init(title: "December 2025", count: 1)])
  }

  @Test func namesAreInNaturalOrderAndOfOneMomentToo() async throws {
    for number in [10, 2, 1] { try add("img\(number).jpg") }
    let index = FolderIndex(path: folder.path)
    for order in FolderIndex.Order.allCases {
      let arrangement = try await index.arrangement(of: "", order: order)
      #expect(try ids(arrangement) == ["img1.jpg", "img2.jpg", "img10.jpg"])
    }
  }

  @Test func wordsChooseAndHiddenOnesAreLeftOut() async throws {
    for path in ["lakes/one.jpg", "lakes/two.jpg", "hills/one.jpg"] { try add(path) }
    let index = FolderIndex(path: folder.path)
    #expect(try await ids(index.arrangement(of: "LAKE one", order: .name)) == ["lakes/one.jpg"])
    #expect(
      try await ids(index.arrangement(of: "", order: .name, hidden: ["lakes/two.jpg"]))
        == ["hills/one.jpg", "lakes/one.jpg"])
    let none = try await index.arrangement(of: "sea", order: .date)
    #expect(none.count == 0)
    #expect(none.sections.isEmpty)
  }

  @Test func positionsBeyondTheEndAreLeftOut() async throws {
    for number in 0..<5 { try add("\(number).jpg") }
    let arrangement = try await FolderIndex(path: folder.path).arrangement(of: "", order: .name)
    #expect(try arrangement.photos(in: 3..<9).map(\.photo.id) == ["3.jpg", "4.jpg"])
    #expect(try arrangement.photos(in: 7..<9).isEmpty)
  }

  @Test func aChangedFolderIsNoticedByAllWhoAskAndListedAnew() async throws {
    try add("sub/one.jpg")
    // Not changed a moment ago, which would count as a change.
    for place in ["", "sub"] {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: folder.appendingPathComponent(place).path)
    }
    let index = FolderIndex(path: folder.path)
    _ = try await index.arrangement(of: "", order: .name)
    let first = await index.currentGeneration()
    #expect(await index.currentGeneration() == first)
    try add("sub/two.jpg")
    let second = await index.currentGeneration()
    #expect(second > first)
    #expect(await index.currentGeneration() == second)
    #expect(try await ids(index.arrangement(of: "", order: .name)) == ["sub/one.jpg", "sub/two.jpg"])
  }

  @Test func aFolderThatIsNotThereIsNamed() async {
    let missing = folder.appendingPathComponent("missing").path
    await #expect(throws: ProviderError.folderMissing(path: missing)) {
      try await FolderIndex(path: missing).arrangement(of: "", order: .date)
    }
  }
}
