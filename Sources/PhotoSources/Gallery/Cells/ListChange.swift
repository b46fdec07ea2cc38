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

  /// Applies the difference to the old list and returns the new one.
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

/// The longest increasing subsequence of a list of numbers.
enum LongestRise {
  /// The indices of such a subsequence. Nil elements are skipped. Takes O(n log n).
  static func indices(of numbers: [Int?]) -> [Int] {
    // For each length, the index of the smallest number that ends a subsequence of that length.
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
