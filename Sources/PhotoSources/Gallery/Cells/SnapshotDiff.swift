/// The difference between two snapshots, for front ends that update only what has changed.
///
/// Apply it in this order: delete cells and sections of the old list, insert and move sections, insert and move cells
/// to their positions in the new list, then reload changed cells. As few cells as possible move: those that stay in
/// place within a section are the longest increasing subsequence of old positions, computed in O(n log n). A moved section
/// takes its cells along.
///
/// Section ids must be distinct within a list, and so must cell ids.
public struct SnapshotDiff: Equatable, Sendable {
  /// The position of a cell.
  public struct Position: Hashable, Sendable {
    /// The index of the section.
    public var section: Int
    /// The index of the cell within the section.
    public var cell: Int
  }

  /// A moved cell: it is in both lists.
  public struct Move: Hashable, Sendable {
    /// The position in the old list.
    public let from: Position
    /// The position in the new list.
    public let to: Position
  }

  /// The difference between the ids of the sections; a removal and an insertion that are associated are a move.
  public let sections: CollectionDifference<String>
  /// The positions of the deleted cells in the old list, ascending.
  public let deletes: [Position]
  /// The positions of the inserted cells in the new list, ascending.
  public let inserts: [Position]
  /// The moved cells, by ascending position in the new list.
  public let moves: [Move]
  /// The positions in the new list of the cells whose content has changed, ascending.
  public let reloads: [Position]

  /// Whether the lists are equal.
  public var isEmpty: Bool {
    sections.isEmpty && deletes.isEmpty && inserts.isEmpty && moves.isEmpty && reloads.isEmpty
  }

  /// Computes the difference between two snapshots.
  public init(from old: GallerySnapshot, to new: GallerySnapshot) {
    self.init(from: old.sections, to: new.sections)
  }

  /// Computes the difference between two lists of sections.
  public init(from old: [GallerySection], to new: [GallerySection]) {
    sections = new.map(\.id).difference(from: old.map(\.id)).inferringMoves()
    let formerSections = Dictionary(old.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    // Fast path: a common prefix and suffix needs no look-up, and mostly only a few cells differ.
    let ends = new.map { group in formerSections[group.id].map { CommonEnds(old[$0].cells, group.cells) } }
    var isKept = old.map { [Bool](repeating: false, count: $0.cells.count) }
    for (group, ends) in zip(new, ends) {
      guard let former = formerSections[group.id], let ends else { continue }
      for index in isKept[former].indices.prefix(ends.first) { isKept[former][index] = true }
      for index in isKept[former].indices.suffix(ends.last) { isKept[former][index] = true }
    }
    var places: [GalleryCell.ID: Position] = [:]
    for (section, group) in old.enumerated() {
      for index in group.cells.indices where !isKept[section][index] {
        places[group.cells[index].id] = Position(section: section, cell: index)
      }
    }
    var (inserts, moves, reloads): ([Position], [Move], [Position]) = ([], [], [])
    for (section, group) in new.enumerated() {
      let former = formerSections[group.id]
      let middle = (ends[section]?.first ?? 0)..<group.cells.count - (ends[section]?.last ?? 0)
      // Each old position is matched once: of two cells with the same id, the second counts as inserted.
      let origins = group.cells[middle].map { places.removeValue(forKey: $0.id) }
      let settled = Set(LongestRise.indices(of: origins.map { $0?.section == former ? $0?.cell : nil }))
      for (index, cell) in group.cells.enumerated() {
        let position = Position(section: section, cell: index)
        var origin: Position?
        if middle.contains(index) {
          origin = origins[index - middle.lowerBound]
        } else if let former {
          let shift = index < middle.lowerBound ? 0 : old[former].cells.count - group.cells.count
          origin = Position(section: former, cell: index + shift)
        }
        guard let origin else {
          inserts.append(position)
          continue
        }
        isKept[origin.section][origin.cell] = true
        if middle.contains(index), !settled.contains(index - middle.lowerBound) {
          moves.append(Move(from: origin, to: position))
        }
        if old[origin.section].cells[origin.cell] != cell { reloads.append(position) }
      }
    }
    (self.inserts, self.moves, self.reloads) = (inserts, moves, reloads)
    deletes = isKept.enumerated().flatMap { section, isKept in
      isKept.indices.filter { !isKept[$0] }.map { Position(section: section, cell: $0) }
    }
  }

  /// The lengths of the common prefix and of the common suffix behind it.
  private struct CommonEnds {
    private(set) var first = 0
    private(set) var last = 0

    init(_ old: [GalleryCell], _ new: [GalleryCell]) {
      let most = min(old.count, new.count)
      while first < most, Self.haveOneID(old[first], new[first]) { first += 1 }
      while last < most - first, Self.haveOneID(old[old.count - 1 - last], new[new.count - 1 - last]) { last += 1 }
    }

    /// Compares the cells first: most are unchanged, and comparing them is faster than computing both ids.
    private static func haveOneID(_ old: GalleryCell, _ new: GalleryCell) -> Bool { old == new || old.id == new.id }
  }
}
