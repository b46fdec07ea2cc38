import DequeModule
import GRDB
import ThumbnailCore

/// The queue of changes to commit. Readers see them at once. A pure value: its owner synchronises it.
struct PendingWrites {
  /// One change to the database.
  enum Operation: Sendable {
    /// Thumbnails of one source, with the receipt for their waiters.
    case store(SourceRecord, [CacheEntry], Replacement = .none, StoreReceipt? = nil)
    case remove(SourceKey)
    case removeAll
    /// Any other change. A hint is not essential, so a cache that can only be read ignores it.
    case change(isHint: Bool = false, @Sendable (Database, DiskCacheLimits) throws -> Void)
    /// Work in its own transactions.
    case work(@Sendable (CacheWriter) throws -> Void)
    /// No change. A caller waits for all earlier changes.
    case barrier

    /// The total length of its thumbnails of at most `limit` bytes each.
    func payloadBytes(limit: Int = .max) -> Int {
      guard case .store(_, let entries, _, _) = self else { return 0 }
      return entries.reduce(0) { $1.thumbnail.data.count > limit ? $0 : $0 + $1.thumbnail.data.count }
    }

    /// Whether it is committed alone.
    var standsAlone: Bool {
      switch self {
      case .removeAll, .work: true
      case .store, .remove, .change, .barrier: false
      }
    }
  }

  /// Operations that are committed together.
  struct Batch: Sendable {
    var operations: [Operation] = []
    /// The promises that wait for the batch.
    var waiters: [Promise<Void, DiskCacheError>] = []
    /// The rows read since the last batch, in order, for the order of eviction.
    var touched: [Int64] = []
    /// The ticket of the last operation.
    var lastTicket: UInt64 = 0

    /// The bytes of its thumbnails.
    var payloadBytes: Int { operations.reduce(0) { $0 + $1.payloadBytes() } }
    /// Whether it holds only hints.
    var isHint: Bool {
      operations.allSatisfy {
        switch $0 {
        case .change(isHint: true, _), .barrier: true
        default: false
        }
      }
    }
    /// Whether there is anything to write.
    var hasWork: Bool {
      !touched.isEmpty || operations.contains { if case .barrier = $0 { false } else { true } }
    }
  }

  private struct Entry {
    let ticket: UInt64
    let operation: Operation
    let bytes: Int
    let waiter: Promise<Void, DiskCacheError>?
  }

  /// The pending changes of one source. An array is faster than a dictionary for the few variants.
  private struct Source {
    /// The ticket of the operation that removes the source from the database.
    var removal: UInt64?
    var thumbnails: [(ticket: UInt64, entry: CacheEntry)] = []
  }

  private var queue: Deque<Entry> = []
  private var sources: [SourceKey: Source] = [:]
  /// The ticket of the operation that removes everything.
  private var removal: UInt64?
  private var touched: [Int64] = []
  private var lastTicket: UInt64 = 0

  /// The bytes of pending thumbnails.
  private(set) var bytes = 0
  /// The number of pending recency updates.
  var touchedCount: Int { touched.count }
  /// Whether no operation is pending.
  var isEmpty: Bool { queue.isEmpty }

  /// Appends an operation, which look-ups see at once.
  mutating func stage(_ operation: Operation, resuming waiter: Promise<Void, DiskCacheError>? = nil) {
    lastTicket += 1
    let size = operation.payloadBytes()
    queue.append(Entry(ticket: lastTicket, operation: operation, bytes: size, waiter: waiter))
    bytes += size
    switch operation {
    case .store(let record, let entries, let replacement, _):
      var source = replacement.isAll ? Source(removal: lastTicket) : sources[record.key] ?? Source()
      for entry in entries {
        source.thumbnails.removeAll { $0.entry.variant == entry.variant }
        source.thumbnails.append((lastTicket, entry))
      }
      sources[record.key] = source
    case .remove(let source): sources[source] = Source(removal: lastTicket)
    case .removeAll:
      sources = [:]
      removal = lastTicket
    case .change, .work, .barrier: break
    }
  }

  /// Records a row that was read. Rows beyond `limit` are ignored to bound memory, because recency is only a hint.
  mutating func noteUse(ofRow row: Int64, limit: Int) {
    if touched.count < limit { touched.append(row) }
  }

  /// A pending thumbnail.
  func thumbnail(_ variant: Variant, of source: SourceKey) -> Thumbnail? {
    sources[source]?.thumbnails.first { $0.entry.variant == variant }?.entry.thumbnail
  }

  /// The pending variants of a source.
  func variants(of source: SourceKey) -> [Variant] { sources[source]?.thumbnails.map(\.entry.variant) ?? [] }

  /// Whether a pending operation removes the source from the database.
  func isHidden(_ source: SourceKey) -> Bool { removal != nil || sources[source]?.removal != nil }

  /// Takes the operations to commit next, up to about `byteLimit` bytes, with the recorded reads. They stay visible
  /// until they are settled. Nil if nothing is pending.
  mutating func takeBatch(byteLimit: Int) -> Batch? {
    guard !queue.isEmpty || !touched.isEmpty else { return nil }
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
      if let waiter = next.waiter { batch.waiters.append(waiter) }
      if next.operation.standsAlone { return batch }
    }
    // A row is moved to the end once, at its last use.
    var seen: Set<Int64> = []
    batch.touched = touched.reversed().filter { seen.insert($0).inserted }.reversed()
    touched = []
    return batch
  }

  /// Ends the visibility of a batch, which was committed or has failed.
  mutating func settle(_ batch: Batch) {
    func isSettled(_ ticket: UInt64?) -> Bool { ticket.map { $0 <= batch.lastTicket } ?? false }
    bytes -= batch.payloadBytes
    for operation in batch.operations {
      switch operation {
      case .store(let record, _, _, _): settle(record.key, isSettled)
      case .remove(let source): settle(source, isSettled)
      case .removeAll: if isSettled(removal) { removal = nil }
      case .change, .work, .barrier: break
      }
    }
  }

  private mutating func settle(_ key: SourceKey, _ isSettled: (UInt64?) -> Bool) {
    guard var source = sources[key] else { return }
    source.thumbnails.removeAll { isSettled($0.ticket) }
    if isSettled(source.removal) { source.removal = nil }
    sources[key] = source.thumbnails.isEmpty && source.removal == nil ? nil : source
  }
}
