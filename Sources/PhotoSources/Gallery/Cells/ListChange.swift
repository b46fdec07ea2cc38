/// How one list of distinct elements becomes another: what leaves, what comes, and the fewest that move.
public struct ListChange<Element: Hashable & Sendable>: Equatable, Sendable {
  /// An element that comes.
  public struct Insertion: Hashable, Sendable {
    /// Where, in the new list.
    public let index: Int
    /// What.
    public let element: Element
  }

  /// An element that moves.
  public struct Move: Hashable, Sendable {
    /// Where it was in the old list.
    public let from: Int
    /// Where it is in the new list.
    public let to: Int
  }

  /// What leaves, by its places in the old list, in rising order.
  public let deletes: [Int]
  /// What comes, in rising order.
  public let inserts: [Insertion]
  /// What moves, in rising order of where it goes.
  public let moves: [Move]

  /// Whether nothing changes.
  public var isEmpty: Bool { deletes.isEmpty && inserts.isEmpty && moves.isEmpty }

  /// Finds the change. Takes O(n log n).
  public init(from old: [Element], to new: [Element]) {
    let places = Dictionary(old.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let former = new.map { places[$0] }
    let settled = Set(LongestRise.indices(of: former))
    let kept = Set(former.compactMap { $0 })
    deletes = old.indices.filter { !kept.contains($0) }
    inserts = new.indices.filter { former[$0] == nil }.map { Insertion(index: $0, element: new[$0]) }
    moves = new.indices.compactMap { index in
      guard let from = former[index], !settled.contains(index) else { return nil }
      return Move(from: from, to: index)
    }
  }

  /// Changes the old list into the new one.
  public func applied(to old: [Element]) -> [Element] {
    let leaving = Set(deletes + moves.map(\.from))
    var staying = old.indices.filter { !leaving.contains($0) }.map { old[$0] }[...]
    let coming = Dictionary(
      inserts.map { ($0.index, $0.element) } + moves.map { ($0.to, old[$0.from]) }, uniquingKeysWith: { $1 })
    var new: [Element] = []
    for index in 0..<staying.count + coming.count {
      if let element = coming[index] ?? staying.popFirst() { new.append(element) }
    }
    return new
  }
}

/// The longest row of rising numbers that can be picked from a list without changing its order.
enum LongestRise {
  /// Where such a row's numbers stand. Places without a number are passed over. Takes O(n log n).
  static func indices(of numbers: [Int?]) -> [Int] {
    // For each length, where the smallest number stands that a row of that length can end with.
    var ends: [Int] = []
    var predecessors = [Int?](repeating: nil, count: numbers.count)
    for (index, number) in numbers.enumerated() {
      guard let number else { continue }
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if let end = numbers[ends[middle]], end < number { low = middle + 1 } else { high = middle }
      }
      predecessors[index] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var row: [Int] = []
    var next = ends.last
    while let index = next {
      row.append(index)
      next = predecessors[index]
    }
    return row.reversed()
  }
}
