@testable import ThumbnailCache
@testable import ThumbnailCore
@testable import TestSupport

/// Collects what a cache reports.
final class ProblemLog: Sendable {
  private let problems = Mutex<[DiskCacheError]>([])
  var all: [DiskCacheError] { problems.withLock { $0 } }
  func add(_ problem: DiskCacheError) { problems.withLock { $0.append(problem) } }
}

/// Another process that uses a database through Python's own SQLite.
struct Python {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  static let isAvailable: Bool = {
    let check = try? Python("import sqlite3; print('ready', flush=True)")
    guard let check else { return false }
    defer { check.kill() }
    return (try? check.waitUntilReady()) != nil
  }()

  /// Starts `script` with the arguments.
  init(_ script: String, _ arguments: String...) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script] + arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  /// Blocks until the script has printed something.
  func waitUntilReady() throws {
    guard !output.fileHandleForReading.availableData.isEmpty else { throw CocoaError(.fileReadUnknown) }
  }

  /// Lets a script go on that reads its input, and waits for its end.
  func finish() -> Int32 {
    // Its end may stay open in a process that another test has started.
    try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Ends it as `kill -9` does.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

extension CommitPolicy {
  /// Commits nothing by time, and recency updates by the ten.
  static let never = CommitPolicy(delay: .seconds(86_400), touchDelay: .seconds(86_400), touchCount: 10)
}

extension DiskCache {
  func thumbnail(for key: CacheKey) throws -> Thumbnail? { try reading(key.source) { try $0.thumbnail(key.variant) } }

  func variants(of source: SourceKey) throws -> [Variant] { try reading(source) { try $0.variants() } }

  /// Stores thumbnails of one image once there is room. They can be read at once, and are written later.
  func store(_ entries: [CacheEntry], of record: SourceRecord) async throws {
    let share = try await commits.room.reserve(commits.share(of: entries), priority: PriorityControl(.visible))
    _ = try commits.store(entries, of: record, in: share)
  }

  /// Lowers or raises the limit, as opening with another one does.
  func setByteLimit(_ limit: Int) async throws {
    try await commits.stageAndWait(.work { try $0.trim(toBytes: limit) })
  }

  /// Commits everything and ends all use of the cache.
  func close() { commits.close(waits: true) { [writer] in writer.close() } }

  /// Remembers a failure of an image; written behind.
  func note(_ failure: RememberedFailure, of source: SourceKey) throws {
    try commits.stage(.change { db, limits in try HistoryTable.put(failure, of: source, limits, in: db) })
  }

  /// Stores thumbnails of a new version of an image.
  func replace(by entries: [CacheEntry], of record: SourceRecord) throws {
    _ = try commits.store(entries, of: record, replacing: .all)
  }

  /// The sum of the lengths of all thumbnails as the table has them.
  func sumOfLengths() throws -> Int {
    try onWriter { try Int.fetchOne($0, sql: "SELECT coalesce(sum(length(data)), 0) FROM piece") ?? 0 }
  }

  /// What SQLite finds wrong with the file, and which rows and totals do not belong together. Empty: nothing.
  func faults() throws -> [String] {
    try onWriter { db in
      try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        + Self.pairs.filter { try Bool.fetchOne(db, sql: "SELECT EXISTS (\($0))") ?? true }
    }
  }

  private static let pairs = [
    "SELECT id, bytes FROM thumbnail EXCEPT SELECT id, bytes FROM recency",
    "SELECT id, bytes FROM recency EXCEPT SELECT id, bytes FROM thumbnail",
    "SELECT id, bytes FROM thumbnail EXCEPT SELECT id >> 1, sum(length(data)) FROM piece GROUP BY 1",
    "SELECT id >> 1 FROM piece EXCEPT SELECT id FROM thumbnail",
    "SELECT id FROM source EXCEPT SELECT source FROM thumbnail",
    "SELECT source FROM thumbnail EXCEPT SELECT id FROM source",
    "SELECT payload FROM total EXCEPT SELECT coalesce(sum(bytes), 0) FROM thumbnail",
  ]

  /// Runs something on the connection that writes.
  func onWriter<Value>(_ body: (Database) throws -> Value) throws -> Value {
    guard let writer = try database.connections()?.writer else { throw DiskCacheError.closed }
    return try writer.writeWithoutTransaction(body)
  }
}

extension MemoryCache {
  var totalBytes: Int { entries.withLock { $0.totalBytes } }

  func thumbnail(for key: CacheKey) -> Thumbnail? { thumbnail(for: key, admittedBy: ReuseRule()) }

  func insert(_ thumbnail: Thumbnail, for key: CacheKey) { insert(thumbnail, for: key, freshness: .lasting) }
}
