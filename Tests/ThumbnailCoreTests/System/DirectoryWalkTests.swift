@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct DirectoryWalkTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    for file in ["b/2.jpg", "b/c/3.jpg", "a10/4.jpg", "a9/5.jpg", "1.jpg"] {
      let url = directory.url.appendingPathComponent(file)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: url)
    }
  }

  private func link(_ name: String, to target: String) throws {
    try #require(symlink(target, directory.url.appendingPathComponent(name).path) == 0)
  }

  /// The events of a walk, one a line; a folder's entries sorted, since the file system orders them as it likes.
  private func events(
    followsLinks: Bool = true, areInOrder: @escaping ([UInt8], [UInt8]) -> Bool = { $0.lexicographicallyPrecedes($1) },
    declining declined: Set<String> = []
  ) -> [String] {
    var walk = DirectoryWalk(of: RawPath(directory.url.path), followsLinks: followsLinks, areInOrder: areInOrder)
    var events: [String] = []
    var hasMore = true
    while hasMore {
      var entries: [String] = []
      hasMore = walk.listNext { folder, event in
        let path = String(decoding: folder.path, as: UTF8.self)
        switch event {
        case .opened: events.append("\(path):")
        case .repeated: events.append("\(path) repeated")
        case .unreadable(let failure), .incomplete(let failure): events.append("\(path) \(failure.reason)")
        case .entry(let entry):
          let name = String(decoding: entry.name, as: UTF8.self)
          let kind = (try? entry.kind.get()).map { "\($0)" } ?? "unknown"
          entries.append("\(name) \(entry.isLink ? "link to " : "")\(kind)")
          return !declined.contains(name)
        }
        return !declined.contains(path)
      }
      events += entries.sorted()
    }
    return events
  }

  @Test func aFoldersOwnEntriesComeBeforeItsSubfoldersWhichAreSorted() {
    #expect(
      events() == [
        ":", "1.jpg regular", "a10 folder", "a9 folder", "b folder", "a10/:", "4.jpg regular", "a9/:", "5.jpg regular",
        "b/:", "2.jpg regular", "c folder", "b/c/:", "3.jpg regular",
      ])
    let reversed = events { $1.lexicographicallyPrecedes($0) }
    #expect(reversed.filter { $0.hasSuffix(":") } == [":", "b/:", "b/c/:", "a9/:", "a10/:"])
  }

  @Test func whatTheVisitorDeclinesIsNotListed() {
    let listed = events(declining: ["b", "a9/"])
    #expect(listed.filter { $0.hasSuffix(":") } == [":", "a10/:", "a9/:"] && !listed.contains("5.jpg regular"))
  }

  @Test func foldersReachedByLinksComeLastAndCyclesEnd() throws {
    try link("a0", to: "b")
    try link("b/up", to: "..")
    try FileManager.default.removeItem(at: directory.url.appendingPathComponent("b/c"))
    let folders = events().filter { $0.hasSuffix(":") || $0.hasSuffix("repeated") }
    #expect(folders == [":", "a10/:", "a9/:", "b/:", "a0/ repeated", "b/up/ repeated"])
  }

  @Test func linksAreEntriesOfTheirOwnUnlessTheyAreFollowed() throws {
    try link("folder", to: "b")
    try link("nowhere", to: "missing")
    #expect(Set(events()).isSuperset(of: ["folder link to folder", "nowhere link to unknown"]))
    let own = events(followsLinks: false)
    #expect(Set(own).isSuperset(of: ["folder link to link", "nowhere link to link"]))
    #expect(!own.contains { $0.hasPrefix("folder/") })
  }

  @Test func aFolderThatCannotBeOpenedIsReportedAndTheOthersAreListed() throws {
    var walk = DirectoryWalk(of: RawPath(directory.url.path), followsLinks: true)
    var unreadable: [String] = []
    var listed = 0
    let gone = directory.url.appendingPathComponent("a9")
    var hasMore = true
    while hasMore {
      hasMore = walk.listNext { folder, event in
        switch event {
        case .opened: listed += 1
        case .unreadable: unreadable.append(String(decoding: folder.path, as: UTF8.self))
        case .entry, .repeated, .incomplete: break
        }
        return true
      }
      try? FileManager.default.removeItem(at: gone)
    }
    #expect(unreadable == ["a9/"] && listed == 4)
  }
}
