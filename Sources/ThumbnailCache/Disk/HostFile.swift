package import Foundation
import Synchronization
package import ThumbnailCore

/// Stores host and service states in a small file in the cache's folder, shared by all processes.
///
/// Each change reads the file and replaces it under a lock that ends with its process, so a kill leaves it intact. An
/// empty file counts as new, and what is no such file, or cannot be read, as another program's, which stays. If there is
/// no folder, or if nothing can be written, the state is kept for this process only.
package final class HostFile: HostLedger {
  private struct State {
    var records: [HostLedgerKey: HostRecord] = [:]
    /// The state of the file from which the records were read.
    var file: FileState?
    var isNews = false
    /// Whether it was said that the file is not ours.
    var isForeign = false
  }

  private static let name = "hosts.json"
  /// The most records. Beyond that, the records that expire first are dropped.
  private static let mostRecords = 256
  /// The most bytes read. Our own files are shorter.
  private static let mostBytes = 1 << 20

  private let path: String?
  private let now: @Sendable () -> Date
  private let patience: Duration
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "thumbnailer.hosts", qos: .utility)

  /// Does not read the file yet.
  ///
  /// - Parameters:
  ///   - directory: The cache's folder; nil keeps everything in memory.
  ///   - patience: How long a change waits for those of other processes.
  package init(directory: URL?, patience: Duration = .seconds(2), now: @escaping @Sendable () -> Date = { Date() }) {
    path = directory.map { $0.appendingPathComponent(Self.name).path }
    (self.patience, self.now) = (patience, now)
  }

  /// Deletes the file in a folder.
  package static func remove(in directory: URL) {
    let path = directory.appendingPathComponent(name).path
    if records(at: path) != nil { unlink(path) }
  }

  package func news() -> [HostLedgerKey: HostRecord]? {
    state.withLock { state in
      if let path, let file = try? FileState(of: RawPath(path)), file != state.file,
        let records = Self.records(at: path)
      {
        (state.records, state.file, state.isNews) = (records, file, true)
      }
      defer { state.isNews = false }
      return state.isNews ? state.records : nil
    }
  }

  package func update<Value: Sendable>(
    _ key: HostLedgerKey, _ change: @escaping @Sendable (inout HostRecord) -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async { [self] in continuation.resume(returning: changeNow(key, change)) }
    }
  }

  package func note(_ key: HostLedgerKey, _ change: @escaping @Sendable (inout HostRecord) -> Void) {
    queue.async { [self] in changeNow(key, change) }
  }

  package func flush() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }

  /// Blocks while another process changes the file, for at most `patience`.
  private func changeNow<Value: Sendable>(_ key: HostLedgerKey, _ change: (inout HostRecord) -> Value) -> Value {
    if let path,
      let value = try? FileLock.hold(
        path + ".lock", timeout: patience,
        { () throws(DiskCacheError) in
          guard var records = Self.records(at: path) else {
            let isNew = state.withLock { state in
              defer { state.isForeign = true }
              return !state.isForeign
            }
            if isNew { Log.cache.warning("states of hosts are not shared: \(path) is not ours, or cannot be read") }
            throw .failed(path: path, reason: "it is another program's, or cannot be read")
          }
          let value = self.change(&records, key, change)
          Self.write(records, to: path)
          let file = try? FileState(of: RawPath(path))
          state.withLock { ($0.records, $0.file, $0.isNews) = (records, file, true) }
          return value
        })
    {
      return value
    }
    return state.withLock { state in
      state.isNews = true
      return self.change(&state.records, key, change)
    }
  }

  private func change<Value: Sendable>(
    _ records: inout [HostLedgerKey: HostRecord], _ key: HostLedgerKey, _ change: (inout HostRecord) -> Value
  ) -> Value {
    let now = now()
    records = records.filter { $0.value.counts(at: now) }
    var record = records[key] ?? HostRecord()
    let value = change(&record)
    records[key] = record
    if records.count > Self.mostRecords {
      let ends = records.mapValues { max($0.until ?? now, $0.due ?? now) }
      for (key, _) in ends.sorted(by: { $0.value < $1.value }).prefix(records.count - Self.mostRecords) {
        records.removeValue(forKey: key)
      }
    }
    return value
  }

  /// The stored records; nil if the file is another program's, or cannot be read.
  private static func records(at path: String) -> [HostLedgerKey: HostRecord]? {
    var status = stat()
    if lstat(path, &status) != 0, errno == ENOENT { return [:] }
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let data = try? FileHandle(forReadingFrom: URL(filePath: path)).read(upToCount: mostBytes) ?? Data()
    else { return nil }
    // A power failure leaves zeros, or nothing.
    if data.count < mostBytes, data.allSatisfy({ $0 == 0 }) { return [:] }
    guard let records = try? JSONDecoder().decode([String: HostRecord].self, from: data), !records.isEmpty,
      records.keys.allSatisfy({ $0.hasPrefix("host ") || $0.hasPrefix("service ") })
    else { return nil }
    return Dictionary(uniqueKeysWithValues: records.map { (HostLedgerKey(text: $0.key), $0.value) })
  }

  /// If writing fails, only this process knows the state.
  private static func write(_ records: [HostLedgerKey: HostRecord], to path: String) {
    let texts = Dictionary(uniqueKeysWithValues: records.map { ($0.key.text, $0.value) })
    guard let data = try? JSONEncoder().encode(texts) else { return }
    // No other process writes here, because we hold the lock.
    guard var file = try? NewFile(RawPath(path), permissions: 0o600) else { return }
    do throws(SystemFailure) {
      try file.write(data)
      try file.commit()
    } catch {}
  }
}
