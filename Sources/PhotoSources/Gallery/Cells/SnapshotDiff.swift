/// What has changed from one list of sections to another, for front ends that change only that.
///
/// Read in this order: cells and sections of the old list leave, sections come and move, cells come and move to their
/// places in the new list, and cells that stay or move but look different are drawn anew. Cells move as rarely as can be:
/// those that keep their order within a section are the longest such row there is. A section takes its cells along.
/// Takes O(n log n).
///
/// The ids of sections are distinct within a list, and so are those of cells.
public struct SnapshotDiff: Equatable, Sendable {
  /// The place of a cell.
  public struct Position: Hashable, Sendable {
    /// The number of the section, from 0.
    public var section: Int
    /// The number of the cell within the section, from 0.
    public var cell: Int
  }

  /// A cell that comes.
  public struct Insertion: Equatable, Sendable {
    /// Where, in the new list.
    public let position: Position
    /// What.
    public let cell: GalleryCell
  }

  /// A cell that is in both lists.
  public struct Move: Hashable, Sendable {
    /// Where it was in the old list.
    public let from: Position
    /// Where it is in the new list.
    public let to: Position
  }

  /// A cell that looks different.
  public struct Reload: Equatable, Sendable {
    /// Where it is in the new list.
    public let position: Position
    /// What it looks like.
    public let cell: GalleryCell
  }

  /// How the list of sections changes.
  public let sections: ListChange<String>
  /// The cells that leave, by their places in the old list, in rising order.
  public let deletes: [Position]
  /// The cells that come, in rising order.
  public let inserts: [Insertion]
  /// The cells that move, in rising order of where they go.
  public let moves: [Move]
  /// The cells that look different, in rising order.
  public let reloads: [Reload]

  /// Whether nothing changes.
  public var isEmpty: Bool {
    sections.isEmpty && deletes.isEmpty && inserts.isEmpty && moves.isEmpty && reloads.isEmpty
  }

  /// Finds what has changed between two snapshots.
  public init(from old: GallerySnapshot, to new: GallerySnapshot) {
    self.init(from: old.sections, to: new.sections)
  }

  /// Finds what has changed.
  public init(from old: [GallerySection], to new: [GallerySection]) {
    sections = ListChange(from: old.map(\.id), to: new.map(\.id))
    let formerSections = Dictionary(old.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    // What both begin and end with stays: mostly a few cells come or go, and all others need no look-up.
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
      // Each place is taken once: of two cells with one id, the second comes as if it were another.
      let former = rest.map { places.removeValue(forKey: $0.id) }
      // Those that were in this section already, by where they were there.
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

  /// Changes the old list into the new one.
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

  /// How many cells two lists share at their beginnings and, behind those, at their ends.
  private struct CommonEnds {
    private(set) var first = 0
    private(set) var last = 0

    init(_ old: [GalleryCell], _ new: [GalleryCell]) {
      let most = min(old.count, new.count)
      while first < most, Self.haveOneID(old[first], new[first]) { first += 1 }
      while last < most - first, Self.haveOneID(old[old.count - 1 - last], new[new.count - 1 - last]) { last += 1 }
    }

    /// Most are one and the same cell, which is seen sooner than that they have one id.
    private static func haveOneID(_ old: GalleryCell, _ new: GalleryCell) -> Bool { old == new || old.id == new.id }
  }
}
