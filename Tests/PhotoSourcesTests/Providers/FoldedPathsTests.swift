@testable import PhotoSources
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct FoldedPathsTests {
  private let folders = ["", "a/", "a/b/", "a/b/été/", "Straße 2/", "ℹ/a℀/", "2021/", "2021/07/", "á/ba/"]
  private let names = ["IMG_1.jpg", "img.JPG", "B.jpg", "été.png", "ete\u{301} 2021.jpg", "ﬁne a.jpg", "℀b.jpg", "ab/"]

  /// As a search of each whole path finds them; other spellings are those of `FolderIndexTests`.
  private func plainly(_ words: [[UInt8]], _ paths: [(folder: String, name: String)]) -> [UInt32] {
    paths.indices.filter { index in
      let text = (SearchText.folded(paths[index].folder) + SearchText.folded(paths[index].name)).utf8
      return words.allSatisfy { word in
        (0...max(0, text.count - word.count)).contains { text.dropFirst($0).starts(with: word) }
      }
    }.map { UInt32($0) }
  }

  @Test func wordsAreFoundAsInWholePathsAcrossSlashesToo() throws {
    var generator = SplitMix(state: 11)
    let paths = folders.flatMap { folder in names.map { (folder: folder, name: $0) } }
    var folded = FoldedPaths()
    for path in paths {
      var bytes: [UInt8] = []
      PathRecord.append(folder: path.folder.utf8, name: path.name.utf8, to: &bytes)
      folded.append(PathRecord(bytes: bytes))
    }
    let wholes = paths.map { Array(SearchText.folded($0.folder + $0.name).utf8) }
    var (count, found) = (0, 0)
    for round in Thoroughness.rounds(3000) {
      // Parts of paths, of which some are in none.
      let words = (0...round % 3).map { _ in
        let text = wholes[Int.random(in: 0..<wholes.count, using: &generator)]
        let start = Int.random(in: 0..<text.count, using: &generator)
        return Array(text[start...].prefix(Int.random(in: 1...9, using: &generator)))
      }
      let matches = try folded.indices(matching: words, cancelled: CancellationFlag())
      #expect(matches == plainly(words, paths), "\(words.map { String(decoding: $0, as: UTF8.self) })")
      (count, found) = (count + 1, found + (matches.isEmpty ? 0 : 1))
    }
    #expect(found > count / 2 && found < count)
    for words in [[[0]], [[0x67, 0, 0x69]], []] as [[[UInt8]]] {
      let matches = try folded.indices(matching: words, cancelled: CancellationFlag())
      #expect(matches.count == (words.isEmpty ? paths.count : 0))
    }
  }

  @Test func aCancelledSearchEnds() throws {
    var folded = FoldedPaths()
    folded.append(PathRecord(bytes: [0, 0, 1, 0, 0x61]))
    let cancelled = CancellationFlag()
    cancelled.set()
    #expect(throws: SystemFailure(code: ECANCELED)) { try folded.indices(matching: [[0x61]], cancelled: cancelled) }
  }
}
