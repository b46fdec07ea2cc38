import DequeModule
import ThumbnailCore

/// The queue of changes to commit, and what readers see of them meanwhile. A pure value: its owner synchronises it.
struct PendingWrites {
  /// One change to the database.
  enum Operation: Sendable {
    /// Thumbnails of one source, with the receipt for those that wait until they are committed.
    case store(SourceRecord, [CacheEntry], Replacement = .none, StoreReceipt? = nil)
    case remove(SourceKey)
    /// Drops a damaged thumbnail: only the row that was read, so that an intact one stored since is kept. Nil if the
    /// row could not be read at all.
    case drop(CacheKey, row: Int64?)
    /// Changes stored search pages.
    case pages(PageChange)
    /// Changes the history of a source.
    case note(SourceKey, HistoryChange)
    case removeAll
    /// Changes the limit, in bytes, and evicts down to it.
    case trim(toBytes: Int)
    /// Replaces the file by one of the thumbnails used last, of so many bytes, if they are few; says what that removed.
    case copy(bytes: Int, removing: @Sendable (CachePruning.Outcome) -> Void)
    /// Work on the write connection, in its own transactions. If the file has to be replaced meanwhile, it runs again
    /// with the new one.
    case work(@Sendable (CacheWriter) throws -> Void)
    /// The file is damaged: begins anew with an empty one, unless another process has done so.
    case replaceDamaged
    /// Changes nothing; a caller waits for everything before it.
    case barrier

    /// The bytes of its thumbnails that are no larger than `limit`.
    func payloadBytes(limit: Int) -> Int {
      guard case .store(_, let entries, _, _) = self else { return 0 }
      return entries.reduce(0) { $1.thumbnail.data.count > limit ? $0 : $0 + $1.thumbnail.storedBytes }
    }

    /// Says whether it was committed.
    func settle(isWritten: Bool) {
      if case .store(_, _, _, let receipt) = self { receipt?.settle(isWritten: isWritten) }
    }

    /// Whether it uses its own transactions.
    var standsAlone: Bool {
      switch self {
      case .removeAll, .trim, .copy, .work, .replaceDamaged: true
      case .store, .remove, .drop, .note, .pages, .barrier: false
      }
    }
  }

  /// Operations that are committed together.
  struct Batch: Sendable {
    var operations: [Operation] = []
    /// The rows read since the last batch, in order, for the order of eviction.
    var touched: [Int64] = []
    /// The look-ups since the last batch that found a thumbnail, and those that did not.
    var hits = 0
    var misses = 0
    /// The ticket of the last operation.
    var lastTicket: UInt64 = 0

    /// Whether look-ups were counted.
    var hasLookups: Bool { hits > 0 || misses > 0 }
    /// Whether it holds nothing that anybody waits for or misses: no change of thumbnails.
    var isHint: Bool {
      operations.allSatisfy {
        switch $0 {
        case .note, .drop, .barrier, .pages(.used): true
        default: false
        }
      }
    }
    /// Whether there is anything to write.
    var hasWork: Bool {
      !touched.isEmpty || hasLookups || operations.contains { if case .barrier = $0 { false } else { true } }
    }
  }

  /// What is known of a key without querying the database.
  enum Lookup {
    case pending(Thumbnail)
    /// A removal is pending: what the database still has does not count.
    case removed
    case unknown
  }

  private struct Entry {
    var ticket: UInt64
    var operation: Operation
    var bytes: Int
  }

  private struct Visible {
    var ticket: UInt64
    var thumbnail: Thumbnail
  }

  private var queue: Deque<Entry> = []
  private var visible: [SourceKey: [Variant: Visible]] = [:]
  private var hiddenSources: [SourceKey: UInt64] = [:]
  private var everythingHidden: UInt64?
  private var touched: [Int64] = []
  private var hits = 0
  private var misses = 0

  /// The ticket of the last operation.
  private(set) var lastTicket: UInt64 = 0
  /// The bytes of pending thumbnails.
  private(set) var bytes = 0
  /// The number of pending recency updates.
  var touchedCount: Int { touched.count }
  /// Whether recency updates or look-up counts are pending.
  var hasNotes: Bool { !touched.isEmpty || hits > 0 || misses > 0 }
  /// Whether no operation is pending.
  var isEmpty: Bool { queue.isEmpty }

  /// Appends an operation and returns its ticket, an increasing number.
  mutating func stage(_ operation: Operation) -> UInt64 {
    lastTicket += 1
    let size = operation.payloadBytes(limit: .max)
    queue.append(Entry(ticket: lastTicket, operation: operation, bytes: size))
    bytes += size
    switch operation {
    case .store(let record, let entries, _, _):
      for entry in entries {
        visible[record.key, default: [:]][entry.variant] = Visible(ticket: lastTicket, thumbnail: entry.thumbnail)
      }
    case .remove(let source):
      visible[source] = nil
      hiddenSources[source] = lastTicket
    case .removeAll:
      visible = [:]
      hiddenSources = [:]
      everythingHidden = lastTicket
      (hits, misses) = (0, 0)
    case .drop, .note, .pages, .trim, .copy, .work, .replaceDamaged, .barrier:
      break
    }
    return lastTicket
  }

  /// Records that a row was read. Ignored beyond `limit`: recency is only a hint, and memory is bounded.
  mutating func touch(_ row: Int64, limit: Int) {
    if touched.count < limit { touched.append(row) }
  }

  /// Counts a look-up.
  mutating func count(isHit: Bool) {
    if isHit { hits += 1 } else { misses += 1 }
  }

  /// The pending state of a key.
  func lookup(_ key: CacheKey) -> Lookup {
    if let entry = visible[key.source]?[key.variant] { return .pending(entry.thumbnail) }
    return isHidden(key.source) ? .removed : .unknown
  }

  /// The pending variants of a source, and whether those in the database still count.
  func variants(of source: SourceKey) -> (pending: [Variant], databaseCounts: Bool) {
    (visible[source].map { Array($0.keys) } ?? [], !isHidden(source))
  }

  /// Whether what the database has of a source is about to be removed.
  func isHidden(_ source: SourceKey) -> Bool {
    everythingHidden != nil || hiddenSources[source] != nil
  }

  /// Takes the operations to commit next, up to about `byteLimit` bytes, with the reads recorded so far. They stay
  /// visible until they are settled. Nil when nothing is pending.
  mutating func takeBatch(byteLimit: Int) -> Batch? {
    guard !queue.isEmpty || hasNotes else { return nil }
    var batch = Batch()
    var size = 0
    while let next = queue.first {
      let isFirst = batch.operations.isEmpty
      // Recency is updated before a lowered limit evicts.
      if next.operation.standsAlone, !isFirst || !touched.isEmpty { break }
      if !isFirst, size + next.bytes > byteLimit { break }
      queue.removeFirst()
      size += next.bytes
      batch.operations.append(next.operation)
      batch.lastTicket = next.ticket
      if next.operation.standsAlone { return batch }
    }
    // A row is moved to the end once, at its last use.
    var seen: Set<Int64> = []
    batch.touched = touched.reversed().filter { seen.insert($0).inserted }.reversed()
    touched = []
    (batch.hits, batch.misses) = (hits, misses)
    (hits, misses) = (0, 0)
    return batch
  }

  /// Ends the visibility of a batch: it is in the database now, or it failed.
  mutating func settle(_ batch: Batch) {
    for operation in batch.operations {
      switch operation {
      case .store(let record, let entries, _, _):
        bytes -= operation.payloadBytes(limit: .max)
        for entry in entries where visible[record.key]?[entry.variant]?.ticket ?? .max <= batch.lastTicket {
          visible[record.key]?[entry.variant] = nil
        }
        if visible[record.key]?.isEmpty == true { visible[record.key] = nil }
      case .remove(let source):
        if hiddenSources[source] ?? .max <= batch.lastTicket { hiddenSources[source] = nil }
      case .removeAll:
        if everythingHidden ?? .max <= batch.lastTicket { everythingHidden = nil }
      case .drop, .note, .pages, .trim, .copy, .work, .replaceDamaged, .barrier:
        break
      }
    }
  }
}
