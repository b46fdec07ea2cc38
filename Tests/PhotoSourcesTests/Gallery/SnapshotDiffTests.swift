@testable import PhotoSources

@Suite struct SnapshotDiffTests {
  /// A section of texts: `a1` is the text `a` in its first version.
  private func section(_ id: String, _ cells: String) -> GallerySection {
    GallerySection(
      id: id,
      cells: cells.split(separator: " ").map { .text(name: String($0.prefix(1)), text: String($0)) })
  }

  private func diff(_ old: String, _ new: String) -> SnapshotDiff {
    SnapshotDiff(from: [section("s", old)], to: [section("s", new)])
  }

  private typealias Position = SnapshotDiff.Position

  @Test func whatComesGoesAndChangesIsTold() {
    let diff = diff("a b c d", "a c2 x d")
    #expect(diff.deletes == [Position(section: 0, cell: 1)])
    #expect(diff.inserts == [Position(section: 0, cell: 2)])
    #expect(diff.reloads == [Position(section: 0, cell: 1)])
    #expect(diff.moves.isEmpty)
  }

  @Test func asFewCellsMoveAsCanBe() {
    #expect(diff("a b c", "a b c").isEmpty && diff("", "").isEmpty)
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
    #expect(diff.applied(to: old, giving: new) == new)
  }

  @Test func sectionsComeGoAndMoveWithTheirCells() {
    let old = [section("s", "a b"), section("t", "c"), section("u", "d")]
    let new = [section("u", "d"), section("s", "a b"), section("v", "x")]
    let diff = SnapshotDiff(from: old, to: new)
    #expect(diff.sections.removals.count == 2 && diff.sections.insertions.count == 2)
    #expect(diff.moves.isEmpty)
    #expect(diff.applied(to: old, giving: new) == new)
  }

  @Test(arguments: Thoroughness.rounds(20)) func appliedToTheOldItGivesTheNew(seed: Int) {
    var random = SplitMix(state: UInt64(seed))
    for pair in 0..<250 {
      var lists = SectionLists(&random)
      let old = lists.sections
      // From a touch to another list altogether.
      for _ in 0..<[1, 3, 10, 60][pair % 4] { lists.edit(&random) }
      let new = lists.sections
      let diff = SnapshotDiff(from: old, to: new)
      if let problem = Self.problem(diff, from: old, to: new) {
        Issue.record("\(problem) in pair \(pair) of seed \(seed): \(old) becomes \(new) by \(diff)")
        return
      }
    }
  }

  /// What is wrong with a difference; nil when it says all that has changed, and no more.
  private static func problem(_ diff: SnapshotDiff, from old: [GallerySection], to new: [GallerySection]) -> String? {
    if diff.applied(to: old, giving: new) != new { return "something else comes out" }
    if diff.isEmpty != (old == new) { return "empty or not" }
    let former = Dictionary(uniqueKeysWithValues: old.flatMap(\.cells).map { ($0.id, $0) })
    let later = Dictionary(uniqueKeysWithValues: new.flatMap(\.cells).map { ($0.id, $0) })
    func before(_ place: Position) -> GalleryCell { old[place.section].cells[place.cell] }
    func after(_ place: Position) -> GalleryCell { new[place.section].cells[place.cell] }
    if Set(diff.deletes.map { before($0).id }) != Set(former.keys).subtracting(later.keys) { return "the deletes" }
    if Set(diff.inserts.map { after($0).id }) != Set(later.keys).subtracting(former.keys) { return "the inserts" }
    if diff.moves.contains(where: { before($0.from).id != after($0.to).id }) { return "a move of two cells" }
    let changed = later.filter { former[$0.key].map { [value = $0.value] in $0 != value } ?? false }
    if Set(diff.reloads.map { after($0).id }) != Set(changed.keys) { return "the reloads" }
    let listed = [diff.deletes.count, diff.inserts.count, diff.moves.count, diff.reloads.count]
    let distinct = [Set(diff.deletes).count, Set(diff.inserts).count, Set(diff.moves).count, Set(diff.reloads).count]
    return listed == distinct ? nil : "something is told twice"
  }

  @Test func cellsOfOneIdAreToldApart() {
    for (old, new) in [("a a", "a"), ("a", "a a2"), ("x a", "a a2"), ("a b a2", "a2 a b"), ("b a a", "a x a2 a b")] {
      #expect(diff(old, new).applied(to: [section("s", old)], giving: [section("s", new)]) == [section("s", new)])
    }
  }

  @Test(arguments: 0..<100) func noShorterListOfMovesWouldDo(seed: Int) {
    var random = SplitMix(state: UInt64(seed))
    let new = Array(0..<Int.random(in: 0...7, using: &random)).shuffled(using: &random)
    // The longest rising row, by trying all.
    let longest =
      (0..<1 << new.count).map { mask in
        let row = new.indices.filter { mask & 1 << $0 != 0 }.map { new[$0] }
        return row == row.sorted() ? row.count : 0
      }.max() ?? 0
    let words = { (numbers: [Int]) in numbers.map(String.init).joined(separator: " ") }
    #expect(diff(words(new.sorted()), words(new)).moves.count == new.count - longest)
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
    #expect(diff.applied(to: old, giving: new) == new)
    let reversed = [GallerySection(id: "photos", cells: cells.reversed())]
    #expect(SnapshotDiff(from: longer, to: reversed).moves.count == 100_000)
  }
}

/// Up to four sections of texts, which can be edited.
private struct SectionLists {
  private(set) var sections: [GallerySection] = []
  private var lastName = 0

  init(_ random: inout SplitMix) {
    for id in "stuv".shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random)) {
      sections.append(
        GallerySection(id: String(id), cells: (0..<Int.random(in: 0...9, using: &random)).map { _ in cell() }))
    }
  }

  /// A cell comes, goes, moves or changes, or a section does.
  mutating func edit(_ random: inout SplitMix) {
    guard let section = sections.indices.randomElement(using: &random) else {
      return sections.append(GallerySection(id: "s", cells: [cell()]))
    }
    let other = sections.indices.randomElement(using: &random) ?? section
    let index = sections[section].cells.indices.randomElement(using: &random)
    switch (Int.random(in: 0..<12, using: &random), index) {
    case (0...3, let index):
      sections[section].cells.insert(cell(), at: index ?? 0)
    case (4...5, let index?):
      sections[section].cells.remove(at: index)
    case (6...7, let index?):
      let moved = sections[section].cells.remove(at: index)
      sections[other].cells.insert(moved, at: Int.random(in: 0...sections[other].cells.count, using: &random))
    case (8...9, let index?):
      guard case .text(let name, let text) = sections[section].cells[index] else { return }
      sections[section].cells[index] = .text(name: name, text: text + "+")
    case (10, _):
      sections.swapAt(section, other)
    case (11, _):
      let missing = "stuv".map(String.init).filter { id in !sections.contains { $0.id == id } }
      if let id = missing.randomElement(using: &random) {
        sections.insert(GallerySection(id: id, cells: [cell()]), at: section)
      } else {
        sections.remove(at: section)
      }
    default: break
    }
  }

  private mutating func cell() -> GalleryCell {
    lastName += 1
    return .text(name: "\(lastName)", text: "text")
  }
}

/// A list that a difference is applied to, as a front end does.
extension SnapshotDiff {
  fileprivate func applied(to old: [GallerySection], giving later: [GallerySection]) -> [GallerySection] {
    let leaving = Set(deletes + moves.map(\.from))
    let coming = Dictionary(
      uniqueKeysWithValues: inserts.map { ($0, later[$0.section].cells[$0.cell]) }
        + moves.map { ($0.to, old[$0.from.section].cells[$0.from.cell]) })
    let counts = Dictionary(grouping: coming.keys, by: \.section).mapValues(\.count)
    var new = (old.map(\.id).applying(sections) ?? []).enumerated().map { section, id in
      let former = old.firstIndex { $0.id == id }
      var staying =
        (former.map { former in
          old[former].cells.indices.filter { !leaving.contains(Position(section: former, cell: $0)) }
            .map { old[former].cells[$0] }
        } ?? [])[...]
      let count = staying.count + (counts[section] ?? 0)
      return GallerySection(
        id: id,
        cells: (0..<count).compactMap { coming[Position(section: section, cell: $0)] ?? staying.popFirst() })
    }
    for place in reloads { new[place.section].cells[place.cell] = later[place.section].cells[place.cell] }
    return new
  }
}
