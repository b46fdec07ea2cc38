import HTTPSemantics
import ThumbnailCore

/// The bookkeeping of the memory cache: thumbnails by key, in two lists by recency.
///
/// Segmented LRU (Karedla, Love and Wherry, "Caching strategies to improve disk system performance", 1994): new entries
/// join the *probation* list; a second use moves them to the *protected* list, which may hold four fifths of the cache.
/// Evictions start at the old end of probation, so a scan of any length evicts only entries of scans, never entries
/// that were used again. Lists are linked through indices into one array, so a hit moves an entry without allocating.
/// All operations take amortised constant time, because a source has few variants. A pure value: its owner synchronises
/// it.
struct SegmentedLRU {
  /// The cost of an entry besides its bytes: the node, the source's list of nodes and the allocation of the data, in
  /// bytes.
  static let entryOverhead = 512
  /// The most variants of one source, because its list is searched linearly. Beyond that, the oldest one is removed.
  static let mostVariants = 256

  private struct Node {
    let key: CacheKey?
    /// The entry; nil while the node is free.
    var entry: DatedThumbnail?
    /// The cost of the entry; for a head, that of the whole list.
    var cost: Int
    /// The head of its list.
    var list = probation
    var newer = probation
    var older = probation
  }

  /// The heads of the two lists are the first two nodes. A head's `older` is the newest node, its `newer` the oldest.
  private static let probation: Int32 = 0
  private static let protected: Int32 = 1

  private var nodes: [Node] = []
  private var free: [Int32] = []
  /// The nodes of each source, mostly one. Variants are compared, not hashed.
  private var slots: [SourceKey: [Int32]] = [:]

  /// The limit on the total cost, in bytes.
  private let byteLimit: Int

  init(byteLimit: Int) {
    self.byteLimit = max(0, byteLimit)
    for head in [Self.probation, Self.protected] {
      nodes.append(Node(key: nil, entry: nil, cost: 0, list: head, newer: head, older: head))
    }
  }

  /// The total cost, in bytes.
  var totalBytes: Int { nodes[0].cost + nodes[1].cost }

  /// Looks up a thumbnail and counts it as used.
  mutating func use(_ key: CacheKey) -> DatedThumbnail? {
    guard let slot = slot(of: key) else { return nil }
    unlink(slot)
    link(slot, to: Self.protected)
    while nodes[1].cost > byteLimit / 5 * 4 {
      let demoted = nodes[1].newer
      unlink(demoted)
      link(demoted, to: Self.probation)
    }
    return nodes[Int(slot)].entry
  }

  /// Inserts a thumbnail, replacing an earlier one of its key. A thumbnail that costs more than the limit is not
  /// inserted, but an earlier one of its key is removed, because it is outdated.
  mutating func insert(_ entry: DatedThumbnail, for key: CacheKey) {
    let cost = entry.thumbnail.data.count + Self.entryOverhead
    guard cost <= byteLimit else {
      if let outdated = slot(of: key) { discard(outdated) }
      return
    }
    let node = Node(key: key, entry: entry, cost: cost)
    let slot: Int32
    var list = Self.probation
    if let present = self.slot(of: key) {
      (slot, list) = (present, nodes[Int(present)].list)
      unlink(slot)
      nodes[Int(slot)] = node
    } else {
      if let others = slots[key.source], others.count == Self.mostVariants {
        discard(others.first { nodes[Int($0)].list == Self.probation } ?? others[0])
      }
      slot = take(node)
      slots[key.source, default: []].append(slot)
    }
    link(slot, to: list)
    trim(sparing: slot)
  }

  private func slot(of key: CacheKey) -> Int32? {
    slots[key.source]?.first { nodes[Int($0)].key?.variant == key.variant }
  }

  /// Removes all variants of a source, except some.
  mutating func removeAll(of source: SourceKey, except kept: [Variant] = []) {
    for slot in slots[source] ?? [] {
      if let key = nodes[Int(slot)].key, !kept.contains(key.variant) { discard(slot) }
    }
  }

  /// Removes everything.
  mutating func removeAll() {
    self = SegmentedLRU(byteLimit: byteLimit)
  }

  /// The cached variants of a source, in no particular order. Does not count as a use.
  func variants(of source: SourceKey) -> [Variant] {
    slots[source]?.compactMap { nodes[Int($0)].key?.variant } ?? []
  }

  /// Sets the freshness of the variants of a source. Does not count as a use.
  mutating func renew(_ source: SourceKey, freshness: Freshness) {
    for slot in slots[source] ?? [] { nodes[Int(slot)].entry?.freshness = freshness }
  }

  /// Evicts from the old end of probation, then of the protected list, until the limit holds. The new entry fits alone
  /// and is kept, so that an insertion always succeeds.
  private mutating func trim(sparing newcomer: Int32) {
    while totalBytes > byteLimit {
      let oldest = nodes[0].newer
      let victim = oldest == Self.probation || oldest == newcomer ? nodes[1].newer : oldest
      guard victim != Self.protected, victim != newcomer else { return }
      discard(victim)
    }
  }

  private mutating func discard(_ slot: Int32) {
    unlink(slot)
    if let source = nodes[Int(slot)].key?.source {
      slots[source]?.removeAll { $0 == slot }
      if slots[source]?.isEmpty == true { slots[source] = nil }
    }
    nodes[Int(slot)].entry = nil
    free.append(slot)
  }

  private mutating func take(_ node: Node) -> Int32 {
    guard let slot = free.popLast() else {
      nodes.append(node)
      return Int32(nodes.count - 1)
    }
    nodes[Int(slot)] = node
    return slot
  }

  /// Makes a node the newest one of a list.
  private mutating func link(_ slot: Int32, to list: Int32) {
    let newest = nodes[Int(list)].older
    nodes[Int(slot)].list = list
    (nodes[Int(slot)].newer, nodes[Int(slot)].older) = (list, newest)
    nodes[Int(newest)].newer = slot
    nodes[Int(list)].older = slot
    nodes[Int(list)].cost += nodes[Int(slot)].cost
  }

  private mutating func unlink(_ slot: Int32) {
    let (list, newer, older) = (nodes[Int(slot)].list, nodes[Int(slot)].newer, nodes[Int(slot)].older)
    nodes[Int(newer)].older = older
    nodes[Int(older)].newer = newer
    nodes[Int(list)].cost -= nodes[Int(slot)].cost
  }
}
