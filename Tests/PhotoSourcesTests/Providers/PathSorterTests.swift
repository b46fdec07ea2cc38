@testable import PhotoSources
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct PathSorterTests {
  private let paths: [(folder: String, name: String)]

  init() {
    var generator = SplitMix(state: 7)
    let folders = ["", "a/", "a/b/", "a10/", "a9/", "ä/"]
    paths = (0..<3000).map { number in
      (folders[Int.random(in: 0..<folders.count, using: &generator)], "img\(number % 977)-\(number).jpg")
    }
  }

  private func listing(runBytes: Int, directories: [String] = [NSTemporaryDirectory()]) throws -> PathList {
    var sorter = PathSorter(runBytes: runBytes, directories: directories)
    for path in paths { try sorter.add(path.name.utf8, in: path.folder.utf8) }
    return try sorter.finish(skipped: [])
  }

  private var expected: [String] {
    paths.sorted { left, right in
      left.folder == right.folder
        ? NaturalOrder.areInOrder(left.name.utf8, right.name.utf8)
        : NaturalOrder.areInOrder(left.folder.utf8, right.folder.utf8)
    }.map { $0.folder + $0.name }
  }

  /// In memory, in a few runs, and in many.
  @Test(arguments: [1 << 20, 16 << 10, 500]) func theOrderIsTheSameHoweverManyRuns(runBytes: Int) throws {
    let listing = try listing(runBytes: runBytes)
    let expected = expected
    #expect(listing.count == expected.count)
    #expect(try listing.paths(at: 0..<listing.count).map(\.id) == expected)
    // Wherever a page begins, and in any order.
    let places = [2999, 0, 64, 63, 65, 128, 1, 2000, 2063, 2064]
    #expect(try listing.paths(at: places).map(\.id) == places.map { expected[$0] })
  }

  @Test func whereNoFileCanBeMadeTheListStaysInMemory() throws {
    #expect(try listing(runBytes: 500, directories: ["/proc", "/nowhere"]).paths(at: [0]).map(\.id) == [expected[0]])
  }

  @Test func withoutPicturesThereIsNothing() throws {
    var sorter = PathSorter()
    let listing = try sorter.finish(skipped: [])
    #expect(listing.count == 0)
    #expect(try listing.paths(at: []).isEmpty)
    #expect(try FoldedPaths(listing).indices(matching: [[1]], cancelled: CancellationFlag()) == [])
  }
}

@Suite struct NaturalOrderTests {
  @Test func numbersInNamesCountAsNumbers() {
    let sorted = ["a", "a1", "a01", "a2", "a2b", "a10", "a10/x", "a10-x", "b/1", "b/9", "b/10", "é", "富"]
    var names = sorted.shuffled()
    names.sort { NaturalOrder.areInOrder($0.utf8, $1.utf8) }
    // Of a1 and a01 the zero decides.
    #expect(names == ["a", "a01", "a1", "a2", "a2b", "a10", "a10/x", "a10-x", "b/1", "b/9", "b/10", "é", "富"])
  }

  @Test func foldersThatDifferInLeadingZerosAreNotMixed() {
    let sorted = ["2021/01/1.jpg", "2021/01/2.jpg", "2021/1/1.jpg", "2021/1/02.jpg", "2021/1/2.jpg", "2021/2.jpg"]
    #expect(sorted.shuffled().sorted { NaturalOrder.areInOrder($0.utf8, $1.utf8) } == sorted)
  }

  @Test func itIsATotalOrder() {
    var generator = SystemRandomNumberGenerator()
    let alphabet = Array("019a/B".utf8)
    let names = (0..<60).map { _ in
      (0..<Int.random(in: 0...4, using: &generator)).map { _ in alphabet.randomElement() ?? 0 }
    }
    for a in names {
      #expect(!NaturalOrder.areInOrder(a, a))
      for b in names where a != b {
        #expect(NaturalOrder.areInOrder(a, b) != NaturalOrder.areInOrder(b, a), "\(a) \(b)")
        for c in names where NaturalOrder.areInOrder(a, b) && NaturalOrder.areInOrder(b, c) {
          #expect(NaturalOrder.areInOrder(a, c), "\(a) \(b) \(c)")
        }
      }
    }
  }
}
