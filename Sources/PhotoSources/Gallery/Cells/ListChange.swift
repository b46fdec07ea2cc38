import Thumbnailer

/// The difference between two lists of distinct elements: deletions, insertions, and as few moves as possible.
public struct ListChange<Element: Hashable & Sendable>: Equatable, Sendable {
  /// An inserted element.
  public struct Insertion: Hashable, Sendable {
    /// The index in the new list.
    public let index: Int
    /// The element.
    public let element: Element
  }

  /// A moved element.
  public struct Move: Hashable, Sendable {
    /// The index in the old list.
    public let from: Int
    /// The index in the new list.
    public let to: Int
  }

  /// The indices of the deleted elements in the old list, ascending.
  public let deletes: [Int]
  /// The insertions, by ascending index.
  public let inserts: [Insertion]
  /// The moves, by ascending index in the new list.
  public let moves: [Move]

  /// Whether the lists are equal.
  public var isEmpty: Bool { deletes.isEmpty && inserts.isEmpty && moves.isEmpty }

  /// Computes the difference in O(n log n).
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
}

/// The longest increasing subsequence of a list of numbers.
enum LongestRise {
  /// The indices of such a subsequence. Nil elements are skipped. Takes O(n log n).
  static func indices(of numbers: [Int?]) -> [Int] {
    // For each length, the index of the smallest number that ends a subsequence of that length.
    var ends: [Int] = []
    var predecessors = [Int?](repeating: nil, count: numbers.count)
    for (index, number) in numbers.enumerated() {
      guard let number else { continue }
      let place = ends.partitioningIndex { numbers[$0] ?? .max >= number }
      predecessors[index] = place > 0 ? ends[place - 1] : nil
      if place == ends.count { ends.append(index) } else { ends[place] = index }
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
