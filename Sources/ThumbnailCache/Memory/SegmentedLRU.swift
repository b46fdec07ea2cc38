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
  /// The cost of an entry besides its bytes: the node, the source's list of nodes and the allocation of the data, in
  /// bytes.
  static let entryOverhead = 512
  /// The most variants of one source, since its list is searched. The one added first is removed for another.
  static let mostVariants = 256

  private struct Node {
    var key: CacheKey
    /// Nil while the node is free.
    var entry: DatedThumbnail?
    var cost: Int
    var isProtected: Bool
    var newer: Int32 = none
    /// For a free node, the next free one.
    var older: Int32 = none
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
  /// The nodes of each source, which are mostly one. To find a variant among them, none is hashed.
  private var slots: [SourceKey: [Int32]] = [:]
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
  var count: Int { probation.count + protected.count }

  /// Looks up a thumbnail and counts it as used.
  mutating func use(_ key: CacheKey) -> DatedThumbnail? {
    guard let slot = slot(of: key) else { return nil }
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
    if let present = self.slot(of: key) {
      slot = present
      unlink(slot)
      nodes[Int(slot)].entry = entry
      nodes[Int(slot)].cost = cost
    } else {
      if let others = slots[key.source], others.count == Self.mostVariants { discard(others[0]) }
      slot = takeNode(Node(key: key, entry: entry, cost: cost, isProtected: false))
      slots[key.source, default: []].append(slot)
    }
    linkAsNewest(slot)
    trim(sparing: slot)
  }

  private func slot(of key: CacheKey) -> Int32? {
    slots[key.source]?.first { nodes[Int($0)].key.variant == key.variant }
  }

  /// Removes a thumbnail, if it exists.
  mutating func remove(_ key: CacheKey) {
    if let slot = slot(of: key) { discard(slot) }
  }

  /// Removes all variants of a source, except some.
  mutating func removeAll(of source: SourceKey, except kept: [Variant] = []) {
    for slot in slots[source] ?? [] where !kept.contains(nodes[Int(slot)].key.variant) { discard(slot) }
  }

  /// Removes everything.
  mutating func removeAll() {
    self = SegmentedLRU(byteLimit: byteLimit, countLimit: countLimit)
  }

  /// The cached variants of a source, in no particular order. Does not count as a use.
  func variants(of source: SourceKey) -> [Variant] { slots[source]?.map { nodes[Int($0)].key.variant } ?? [] }

  /// Sets the freshness of the variants of a source. Does not count as a use.
  mutating func renew(_ source: SourceKey, freshness: Freshness) {
    for slot in slots[source] ?? [] { nodes[Int(slot)].entry?.freshness = freshness }
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
    let source = nodes[Int(slot)].key.source
    slots[source]?.removeAll { $0 == slot }
    if slots[source]?.isEmpty == true { slots[source] = nil }
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
}
