/// Decides which micro thumbnails a prefetcher reads from the disk cache into memory, and when: those in view at once,
/// then the nearest around them. A pure value.
struct MicroReadAhead: Sendable {
  /// The images that one visit of the disk cache reads: a millisecond, so that thumbnails do not wait for it.
  private static let itemsPerRead = 64

  /// Items to read in one visit.
  struct Read: Sendable, Equatable {
    let items: Range<Int>
    /// Whether they are in view. The others are read one visit at a time.
    let isVisible: Bool
  }

  /// The number of items that are read before and behind those in view; 0 reads none, not even in view.
  private let reach: Int
  /// The items within reach that were read, or are being read.
  private var begun = RangeSet<Int>()
  private var isReadingAhead = false
  private var lastVisible = 0..<0
  private var drops = 0

  init(reach: Int) { self.reach = max(0, reach) }

  /// Starts anew for another list.
  mutating func reset() { begun = RangeSet() }

  /// The reads to begin now.
  ///
  /// - Parameters:
  ///   - visible: The items in view.
  ///   - count: The number of items.
  ///   - drops: Changes when the memory has dropped some that were read. They are read again when the view moves, and
  ///     not before, so that lists that are too large together do not take each other's places for ever.
  mutating func next(visible: Range<Int>, count: Int, drops: Int) -> [Read] {
    guard reach > 0, !visible.isEmpty else { return [] }
    if drops != self.drops, visible != lastVisible {
      begun = RangeSet()
      self.drops = drops
    }
    lastVisible = visible
    let near = RangeSet(max(0, visible.lowerBound - reach)..<min(count, visible.upperBound + reach))
    begun.formIntersection(near)
    var reads = RangeSet(visible).subtracting(begun).ranges.map { Read(items: $0, isVisible: true) }
    begun.formUnion(RangeSet(visible))
    if !isReadingAhead, let items = nearest(to: visible, in: near.subtracting(begun)) {
      begun.insert(contentsOf: items)
      isReadingAhead = true
      reads.append(Read(items: items, isVisible: false))
    }
    return reads
  }

  /// A read ahead has ended.
  mutating func finishReadingAhead() { isReadingAhead = false }

  private func nearest(to visible: Range<Int>, in open: RangeSet<Int>) -> Range<Int>? {
    let after = open.ranges.first { $0.lowerBound >= visible.upperBound }
    let before = open.ranges.last { $0.upperBound <= visible.lowerBound }
    if let after {
      let isNearer = before.map { after.lowerBound - visible.upperBound <= visible.lowerBound - $0.upperBound } ?? true
      if isNearer { return after.lowerBound..<min(after.upperBound, after.lowerBound + Self.itemsPerRead) }
    }
    return before.map { max($0.lowerBound, $0.upperBound - Self.itemsPerRead)..<$0.upperBound }
  }
}
