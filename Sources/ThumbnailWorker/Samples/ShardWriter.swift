import Foundation
import Synchronization
import ThumbnailCore

/// Writes samples into shards in the order of the lines, on a thread of its own. Samples may arrive in any order.
final class ShardWriter: @unchecked Sendable {
  // Safety: `shard` and its counters are used on the single thread of the pool alone.

  /// A finished line, which waits until the lines before it are written.
  struct Turn: Sendable {
    var response: LineResponse
    /// Its files; empty for a line that failed.
    var files: [SampleFiles.File] = []
    let held: WeightedSemaphore.Reservation?
  }

  private struct State {
    var waiting: [Int: Turn] = [:]
    var next = 0
    var isWriting = false
  }

  /// The result of a shard.
  struct Report: Sendable {
    let name: String
    /// The number of its first line, from 1.
    let firstLine: Int
    let lines: Int
    let samples: Int
    let result: Result<(bytes: Int, sha256: String), SystemFailure>
  }

  private static let digits = 5

  private let folder: RootFolder
  private let shardSize: Int
  private let pool = WorkerPool(name: "thumbnailer.worker.shard", threads: 1)
  private let state = Mutex(State())
  private let onResponse: @Sendable (LineResponse, WeightedSemaphore.Reservation?) -> Void
  private let onShard: @Sendable (Report) -> Void

  private var shard: ShardFile?
  private var (lines, samples) = (0, 0)
  /// By bytes, since the names in an archive are.
  private var keys: Set<[UInt8]> = []

  /// - Parameters:
  ///   - onResponse: Called with each line when its files are written.
  ///   - onShard: Called with each shard that has its name, or could not be given it.
  init(
    folder: RootFolder, shardSize: Int,
    onResponse: @escaping @Sendable (LineResponse, WeightedSemaphore.Reservation?) -> Void,
    onShard: @escaping @Sendable (Report) -> Void
  ) {
    (self.folder, self.shardSize) = (folder, shardSize)
    (self.onResponse, self.onShard) = (onResponse, onShard)
  }

  /// Adds a line, which is written after all lines before it. Add every line, also one that failed.
  func take(_ turn: Turn) {
    let startsWriting = state.withLock { state in
      state.waiting[turn.response.number - 1] = turn
      guard !state.isWriting, state.waiting[state.next] != nil else { return false }
      state.isWriting = true
      return true
    }
    if startsWriting { Task { await pool.runToEnd { [self] in writeWaiting() } } }
  }

  /// Gives the last shard its name. To be called when all lines were given.
  func finish() async {
    await pool.runToEnd { [self] in
      writeWaiting()
      if lines > 0 { finishShard() }
    }
  }

  private func writeWaiting() {
    while let turn = nextTurn() {
      write(turn)
      lines += 1
      if lines == shardSize { finishShard() }
    }
  }

  private func nextTurn() -> Turn? {
    state.withLock { state in
      let turn = state.waiting.removeValue(forKey: state.next)
      if turn == nil { state.isWriting = false } else { state.next += 1 }
      return turn
    }
  }

  /// The name of the shard that the next line belongs to.
  private func name(of line: Int) -> String {
    let number = String((line - 1) / shardSize)
    return String(repeating: "0", count: max(0, Self.digits - number.count)) + number + ".tar"
  }

  private func write(_ turn: Turn) {
    var response = turn.response
    if !turn.files.isEmpty {
      let started = ContinuousClock.now
      do throws(LineFailure) {
        try add(turn.files, of: response)
        response.shard = name(of: response.number)
        response.work.write = .now - started
      } catch {
        response.outcome = .failed(error)
      }
    }
    onResponse(response, turn.held)
  }

  private func add(_ files: [SampleFiles.File], of response: LineResponse) throws(LineFailure) {
    let (name, key) = (name(of: response.number), response.key ?? "")
    guard !keys.contains(Array(key.utf8)) else {
      throw LineFailure(
        .write, "duplicate-key", "an earlier line of this shard has the key \(key); give each line a key of its own")
    }
    do throws(SystemFailure) {
      if shard == nil { shard = try ShardFile(name, in: folder) }
      try shard?.append(files)
    } catch {
      throw LineFailure(writing: folder.path.appending(name.utf8).description, error)
    }
    keys.insert(Array(key.utf8))
    samples += 1
  }

  private func finishShard() {
    let last = state.withLock(\.next)
    let name = name(of: last)
    let result: Result<(bytes: Int, sha256: String), SystemFailure>
    do throws(SystemFailure) {
      // A shard without a sample is an empty archive, so that its file exists.
      let file =
        if let shard = shard.take() { shard } else { try ShardFile(name, in: folder) }
      result = .success(try file.commit())
    } catch {
      result = .failure(error)
    }
    onShard(Report(name: name, firstLine: last - lines + 1, lines: lines, samples: samples, result: result))
    (lines, samples, keys) = (0, 0, [])
  }
}
