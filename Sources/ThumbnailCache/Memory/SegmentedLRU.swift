import HTTPSemantics
import ThumbnailCore

/// The bookkeeping of the memory cache: thumbnails by key, in two lists by recency.
///
/// Segmented LRU (Karedla, Love and Wherry, "Caching strategies to improve disk system performance", 1994): new entries
/// join the *probation* list; a second use moves them to the *protected* list, which may hold four fifths of the cache.
/// Evictions start at the old end of probation, so a scan of any length evicts only what a scan brought in, never what
/// was used again. Lists are linked through indices into one array: a hit moves an entry without allocating. All
/// operations take amortised constant time. A pure value: its owner synchronises it.
struct SegmentedLRU {
  /// The cost of an entry besides its bytes: the node, two dictionary slots and the allocation of the data, in bytes.
  static let entryOverhead = 512

  private struct Node {
    var key: CacheKey
    /// Nil while the node is free.
    var entry: DatedThumbnail?
    var cost: Int
    var isProtected: Bool
    var newer: Int32 = none
    /// For a free node, the next free one.
    var older: Int32 = none
    /// The other variants of the same source.
    var nextOfSource: Int32 = none
    var previousOfSource: Int32 = none
  }

  private struct List {
    var newest: Int32 = none
    var oldest: Int32 = none
    var bytes = 0
    var count = 0
  }

  private static let none: Int32 = -1

  private var nodes: [Node] = []
  private var firstFree: Int32 = none
  private var slots: [CacheKey: Int32] = [:]
  private var firstOfSource: [SourceKey: Int32] = [:]
  private var probation = List()
  private var protected = List()

  /// The limit on the total cost, in bytes.
  private(set) var byteLimit: Int
  private let countLimit: Int

  init(byteLimit: Int, countLimit: Int) {
    self.byteLimit = max(0, byteLimit)
    self.countLimit = max(0, countLimit)
  }

  /// The total cost, in bytes.
  var totalBytes: Int { probation.bytes + protected.bytes }
  /// The number of thumbnails.
  var count: Int { slots.count }

  /// Looks up a thumbnail and counts it as used.
  mutating func use(_ key: CacheKey) -> DatedThumbnail? {
    guard let slot = slots[key] else { return nil }
    unlink(slot)
    nodes[Int(slot)].isProtected = true
    linkAsNewest(slot)
    while protected.bytes > byteLimit / 5 * 4 || protected.count > countLimit / 5 * 4, protected.oldest != Self.none {
      let demoted = protected.oldest
      unlink(demoted)
      nodes[Int(demoted)].isProtected = false
      linkAsNewest(demoted)
    }
    return nodes[Int(slot)].entry
  }

  /// Inserts a thumbnail, replacing an earlier one of its key. One that costs more than the limit is not inserted, and
  /// an earlier one of its key is removed all the same, since it is outdated.
  mutating func insert(_ entry: DatedThumbnail, for key: CacheKey) {
    let cost = entry.thumbnail.storedBytes + Self.entryOverhead
    guard cost <= byteLimit, countLimit > 0 else {
      remove(key)
      return
    }
    let slot: Int32
    if let present = slots[key] {
      slot = present
      unlink(slot)
      nodes[Int(slot)].entry = entry
      nodes[Int(slot)].cost = cost
    } else {
      slot = takeNode(Node(key: key, entry: entry, cost: cost, isProtected: false))
      slots[key] = slot
      linkToSource(slot)
    }
    linkAsNewest(slot)
    trim(sparing: slot)
  }

  /// Removes a thumbnail, if it exists.
  mutating func remove(_ key: CacheKey) {
    if let slot = slots[key] { discard(slot) }
  }

  /// Removes all variants of a source.
  mutating func removeAll(of source: SourceKey) {
    while let slot = firstOfSource[source] { discard(slot) }
  }

  /// Removes everything.
  mutating func removeAll() {
    self = SegmentedLRU(byteLimit: byteLimit, countLimit: countLimit)
  }

  /// The cached variants of a source, in no particular order. Does not count as a use.
  func variants(of source: SourceKey) -> [Variant] {
    var variants: [Variant] = []
    var slot = firstOfSource[source] ?? Self.none
    while slot != Self.none {
      variants.append(nodes[Int(slot)].key.variant)
      slot = nodes[Int(slot)].nextOfSource
    }
    return variants
  }

  /// Sets the freshness of the variants of a source. Does not count as a use.
  mutating func renew(_ source: SourceKey, freshness: Freshness) {
    var slot = firstOfSource[source] ?? Self.none
    while slot != Self.none {
      nodes[Int(slot)].entry?.freshness = freshness
      slot = nodes[Int(slot)].nextOfSource
    }
  }

  /// Changes the limit and evicts at once.
  mutating func setByteLimit(_ limit: Int) {
    byteLimit = max(0, limit)
    trim(sparing: Self.none)
  }

  /// Evicts from the old end of probation, then of the protected list, until both limits hold. The new entry fits alone
  /// and is spared, so that an insertion always succeeds.
  private mutating func trim(sparing newcomer: Int32) {
    while totalBytes > byteLimit || count > countLimit {
      var victim = probation.oldest
      if victim == newcomer || victim == Self.none { victim = protected.oldest }
      guard victim != Self.none, victim != newcomer else { return }
      discard(victim)
    }
  }

  private mutating func discard(_ slot: Int32) {
    unlink(slot)
    unlinkFromSource(slot)
    slots[nodes[Int(slot)].key] = nil
    nodes[Int(slot)].entry = nil
    nodes[Int(slot)].older = firstFree
    firstFree = slot
  }

  private mutating func takeNode(_ node: Node) -> Int32 {
    guard firstFree != Self.none else {
      nodes.append(node)
      return Int32(nodes.count - 1)
    }
    let slot = firstFree
    firstFree = nodes[Int(slot)].older
    nodes[Int(slot)] = node
    return slot
  }

  private mutating func linkAsNewest(_ slot: Int32) {
    let isProtected = nodes[Int(slot)].isProtected
    var list = isProtected ? protected : probation
    nodes[Int(slot)].newer = Self.none
    nodes[Int(slot)].older = list.newest
    if list.newest == Self.none { list.oldest = slot } else { nodes[Int(list.newest)].newer = slot }
    list.newest = slot
    list.bytes += nodes[Int(slot)].cost
    list.count += 1
    if isProtected { protected = list } else { probation = list }
  }

  private mutating func unlink(_ slot: Int32) {
    let (isProtected, newer, older) = (nodes[Int(slot)].isProtected, nodes[Int(slot)].newer, nodes[Int(slot)].older)
    var list = isProtected ? protected : probation
    if newer == Self.none { list.newest = older } else { nodes[Int(newer)].older = older }
    if older == Self.none { list.oldest = newer } else { nodes[Int(older)].newer = newer }
    list.bytes -= nodes[Int(slot)].cost
    list.count -= 1
    if isProtected { protected = list } else { probation = list }
  }

  private mutating func linkToSource(_ slot: Int32) {
    let first = firstOfSource.updateValue(slot, forKey: nodes[Int(slot)].key.source) ?? Self.none
    nodes[Int(slot)].nextOfSource = first
    nodes[Int(slot)].previousOfSource = Self.none
    if first != Self.none { nodes[Int(first)].previousOfSource = slot }
  }

  private mutating func unlinkFromSource(_ slot: Int32) {
    let (next, previous) = (nodes[Int(slot)].nextOfSource, nodes[Int(slot)].previousOfSource)
    if next != Self.none { nodes[Int(next)].previousOfSource = previous }
    if previous != Self.none {
      nodes[Int(previous)].nextOfSource = next
    } else {
      firstOfSource[nodes[Int(slot)].key.source] = next == Self.none ? nil : next
    }
  }
}
