import Testing

@testable import Thumbnailer

@Suite struct SnapshotDiffTests {
  /// A section of texts: `a1` is the text `a` in its first version.
  private func section(_ id: String, _ cells: String) -> GallerySection {
    GallerySection(
      id: id,
      cells: cells.split(separator: " ").map { .text(.init(name: String($0.prefix(1)), text: String($0))) })
  }

  private func diff(_ old: String, _ new: String) -> SnapshotDiff {
    SnapshotDiff(from: [section("s", old)], to: [section("s", new)])
  }

  private typealias Position = SnapshotDiff.Position

  @Test func equalListsDifferInNothing() {
    #expect(diff("a b c", "a b c").isEmpty)
    #expect(diff("", "").isEmpty)
  }

  @Test func whatComesGoesAndChangesIsTold() {
    let diff = diff("a b c d", "a c2 x d")
    #expect(diff.deletes == [Position(section: 0, cell: 1)])
    #expect(diff.inserts.map(\.position) == [Position(section: 0, cell: 2)])
    #expect(diff.reloads.map(\.position) == [Position(section: 0, cell: 1)])
    #expect(diff.moves.isEmpty)
  }

  @Test func asFewCellsMoveAsCanBe() {
    #expect(diff("a b c d e f", "b c d e f a").moves.count == 1)
    #expect(diff("a b c d e f", "f a b c d e").moves.count == 1)
    #expect(diff("a b c", "c b a").moves.count == 2)
    // Without `b`, nothing has to move.
    #expect(diff("a b c d", "a c d").moves.isEmpty)
  }

  @Test func aCellMovesToAnotherSection() {
    let old = [section("s", "a b"), section("t", "c")]
    let new = [section("s", "b"), section("t", "a c")]
    let diff = SnapshotDiff(from: old, to: new)
    #expect(diff.moves == [.init(from: Position(section: 0, cell: 0), to: Position(section: 1, cell: 0))])
    #expect(diff.deletes.isEmpty && diff.inserts.isEmpty)
    #expect(diff.applied(to: old) == new)
  }

  @Test func sectionsComeGoAndMoveWithTheirCells() {
    let old = [section("s", "a b"), section("t", "c"), section("u", "d")]
    let new = [section("u", "d"), section("s", "a b"), section("v", "x")]
    let diff = SnapshotDiff(from: old, to: new)
    #expect(diff.sections.deletes == [1] && diff.sections.moves.count == 1)
    #expect(diff.moves.isEmpty)
    #expect(diff.applied(to: old) == new)
  }

  @Test(arguments: 0..<300)
  func appliedToTheOldItGivesTheNew(seed: Int) {
    var random = SplitMix(state: UInt64(seed))
    let old = lists(&random)
    var new = lists(&random)
    if seed.isMultiple(of: 3), !old.isEmpty {
      // Now and then it is the same with more behind it.
      new = old
      new[old.count - 1].cells += lists(&random, besides: old).flatMap(\.cells)
    }
    let diff = SnapshotDiff(from: old, to: new)
    #expect(diff.applied(to: old) == new)
    #expect(SnapshotDiff(from: new, to: old).applied(to: new) == old)
    // Nothing is told twice.
    let touched = diff.inserts.map(\.position) + diff.moves.map(\.to)
    #expect(Set(touched).count == touched.count)
    #expect(Set(diff.deletes).isDisjoint(with: diff.moves.map(\.from)))
  }

  @Test(arguments: 0..<100)
  func noShorterListOfMovesWouldDo(seed: Int) {
    var random = SplitMix(state: UInt64(seed))
    let new = Array(0..<Int.random(in: 0...7, using: &random)).shuffled(using: &random)
    // The longest rising row, by trying all.
    let longest =
      (0..<1 << new.count).map { mask in
        let row = new.indices.filter { mask & 1 << $0 != 0 }.map { new[$0] }
        return row == row.sorted() ? row.count : 0
      }.max() ?? 0
    let change = ListChange(from: Array(0..<new.count), to: new)
    #expect(change.moves.count == new.count - longest)
    #expect(change.applied(to: Array(0..<new.count)) == new)
  }

  @Test func aHundredThousandItemsAreCompared() {
    let source = Sample.source(1)
    let cells = (0...100_000).map {
      GalleryCell.photo(GalleryItem(Photo(id: "\($0)", provider: "test", source: source)))
    }
    let old = [GallerySection(id: "photos", cells: Array(cells.dropLast()))]
    let longer = [GallerySection(id: "photos", cells: cells)]
    let appended = SnapshotDiff(from: old, to: longer)
    #expect(appended.inserts.count == 1 && appended.moves.isEmpty && appended.deletes.isEmpty)
    var changed = cells
    changed.swapAt(5, 99_000)
    changed.remove(at: 50_000)
    let new = [GallerySection(id: "photos", cells: changed)]
    let diff = SnapshotDiff(from: old, to: new)
    #expect(diff.deletes.count == 1 && diff.inserts.count == 1 && diff.moves.count == 2 && diff.reloads.isEmpty)
    #expect(diff.applied(to: old) == new)
    let reversed = [GallerySection(id: "photos", cells: cells.reversed())]
    #expect(SnapshotDiff(from: longer, to: reversed).moves.count == 100_000)
  }

  /// Up to four sections with up to twelve of thirty cells, each in one of two versions.
  private func lists(_ random: inout SplitMix, besides others: [GallerySection] = []) -> [GallerySection] {
    let taken = Set(others.flatMap { $0.cells.map(\.id) })
    var names = (0..<60).filter { !taken.contains(.named(.text, "\($0)")) }.shuffled(using: &random)
    return Array("stuv").shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random))
      .map { id in
        let cells = (0..<Int.random(in: 0...7, using: &random)).map { _ in
          let name = names.removeLast()
          let isOther = Bool.random(using: &random)
          return GalleryCell.text(.init(name: "\(name)", text: "\(name)\(isOther)"))
        }
        return GallerySection(id: String(id), cells: cells)
      }
  }
}
