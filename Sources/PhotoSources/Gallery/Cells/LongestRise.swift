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
