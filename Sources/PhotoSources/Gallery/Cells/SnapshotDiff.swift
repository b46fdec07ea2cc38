/// The difference between two snapshots, for front ends that update only what has changed.
///
/// To be applied in this order: delete cells and sections of the old list, insert and move sections, insert and move
/// cells to their positions in the new list, then reload changed cells. As few cells as possible move: those that stay
/// in place within a section are the longest increasing subsequence of old positions. A moved section takes its cells
/// along. Computed in O(n log n).
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

  /// An inserted cell.
  public struct Insertion: Equatable, Sendable {
    /// The position in the new list.
    public let position: Position
    /// The cell.
    public let cell: GalleryCell
  }

  /// A moved cell: it is in both lists.
  public struct Move: Hashable, Sendable {
    /// The position in the old list.
    public let from: Position
    /// The position in the new list.
    public let to: Position
  }

  /// A cell whose content has changed.
  public struct Reload: Equatable, Sendable {
    /// The position in the new list.
    public let position: Position
    /// The new content.
    public let cell: GalleryCell
  }

  /// The difference between the lists of sections.
  public let sections: ListChange<String>
  /// The positions of the deleted cells in the old list, ascending.
  public let deletes: [Position]
  /// The inserted cells, by ascending position.
  public let inserts: [Insertion]
  /// The moved cells, by ascending position in the new list.
  public let moves: [Move]
  /// The changed cells, by ascending position.
  public let reloads: [Reload]

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
    sections = ListChange(from: old.map(\.id), to: new.map(\.id))
    let formerSections = Dictionary(old.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    // Fast path: a common prefix and suffix needs no look-up, and mostly only a few cells differ.
    let ends = new.map { group in
      formerSections[group.id].map { CommonEnds(old[$0].cells, group.cells) } ?? CommonEnds([], [])
    }
    var kept = old.map { [Bool](repeating: false, count: $0.cells.count) }
    for (group, ends) in zip(new, ends) {
      guard let former = formerSections[group.id] else { continue }
      for index in 0..<ends.first { kept[former][index] = true }
      for index in kept[former].indices.suffix(ends.last) { kept[former][index] = true }
    }
    var places: [GalleryCell.ID: Position] = [:]
    for (section, group) in old.enumerated() {
      for index in group.cells.indices where !kept[section][index] {
        places[group.cells[index].id] = Position(section: section, cell: index)
      }
    }
    var inserts: [Insertion] = []
    var moves: [Move] = []
    var reloads: [Reload] = []
    for (section, group) in new.enumerated() {
      func reload(_ indices: Range<Int>, countedFromEnd: Bool) {
        guard let former = formerSections[group.id].map({ old[$0].cells }) else { return }
        let shift = countedFromEnd ? former.count - group.cells.count : 0
        for index in indices where former[index + shift] != group.cells[index] {
          reloads.append(Reload(position: Position(section: section, cell: index), cell: group.cells[index]))
        }
      }
      let (prefix, suffix) = (ends[section].first, group.cells.count - ends[section].last)
      reload(0..<prefix, countedFromEnd: false)
      let rest = group.cells[prefix..<suffix]
      // Each old position is matched once: of two cells with the same id, the second counts as inserted.
      let former = rest.map { places.removeValue(forKey: $0.id) }
      // The cells that were in this section before, by their old positions.
      var isSettled = [Bool](repeating: false, count: rest.count)
      let inPlace = former.map { place in place.flatMap { old[$0.section].id == group.id ? $0.cell : nil } }
      for index in LongestRise.indices(of: inPlace) { isSettled[index] = true }
      for (offset, cell) in rest.enumerated() {
        let position = Position(section: section, cell: prefix + offset)
        guard let place = former[offset] else {
          inserts.append(Insertion(position: position, cell: cell))
          continue
        }
        kept[place.section][place.cell] = true
        if !isSettled[offset] { moves.append(Move(from: place, to: position)) }
        if old[place.section].cells[place.cell] != cell { reloads.append(Reload(position: position, cell: cell)) }
      }
      reload(suffix..<group.cells.count, countedFromEnd: true)
    }
    deletes = kept.enumerated().flatMap { section, isKept in
      isKept.indices.filter { !isKept[$0] }.map { Position(section: section, cell: $0) }
    }
    self.inserts = inserts
    self.moves = moves
    self.reloads = reloads
  }

  /// Applies the difference to the old list and returns the new one.
  public func applied(to old: [GallerySection]) -> [GallerySection] {
    var leaving = Set(deletes)
    for move in moves { leaving.insert(move.from) }
    var arriving: [Int: [Int: GalleryCell]] = [:]
    for insertion in inserts {
      arriving[insertion.position.section, default: [:]][insertion.position.cell] = insertion.cell
    }
    for move in moves {
      arriving[move.to.section, default: [:]][move.to.cell] = old[move.from.section].cells[move.from.cell]
    }
    var staying: [String: [GalleryCell]] = [:]
    for (section, group) in old.enumerated() {
      staying[group.id] = group.cells.indices.filter { !leaving.contains(Position(section: section, cell: $0)) }
        .map { group.cells[$0] }
    }
    var new = sections.applied(to: old.map(\.id)).enumerated().map { section, id in
      var cells: [GalleryCell] = []
      let coming = arriving[section] ?? [:]
      var rest = (staying[id] ?? [])[...]
      while cells.count < coming.count + (staying[id]?.count ?? 0) {
        if let cell = coming[cells.count] {
          cells.append(cell)
        } else if let cell = rest.popFirst() {
          cells.append(cell)
        } else {
          break
        }
      }
      return GallerySection(id: id, cells: cells)
    }
    for reload in reloads { new[reload.position.section].cells[reload.position.cell] = reload.cell }
    return new
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
