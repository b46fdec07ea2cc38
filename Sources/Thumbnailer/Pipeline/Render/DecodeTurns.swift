import HTTPSemantics
import Synchronization
import ThumbnailCore

/// Distributes decodes among a server's clients: each has at most half of the workers and of the memory for decodes, so
/// that no client waits for the decodes of another one. Decodes without a client do not wait.
final class DecodeTurns: Sendable {
  /// A decode that may run. Ends when its last reference is dropped, or before.
  final class Turn: Sendable {
    private let turns: DecodeTurns
    private let client: String
    private let bytes: Int
    private let hasEnded = Atomic(false)

    fileprivate init(_ turns: DecodeTurns, _ client: String, _ bytes: Int) {
      (self.turns, self.client, self.bytes) = (turns, client, bytes)
    }

    func end() {
      if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { turns.end(client, bytes) }
    }

    deinit { end() }
  }

  private struct Waiter: Sendable {
    let bytes: Int
    let job: JobContext
    let promise: Promise<Turn, ThumbnailError>
  }

  private struct State {
    var parts: Parts
    var waiters: [Waiter] = []
  }

  /// What each client has.
  private struct Parts {
    var decodes: Shares
    var bytes: Shares

    /// Takes a decode for the first client that has a part left.
    mutating func take(_ bytes: Int, for job: JobContext) -> String? {
      let client = job.clients.first { client in
        decodes.refusal(of: 1, for: client) == nil && self.bytes.refusal(of: bytes, for: client) == nil
      }
      guard let client else { return nil }
      _ = decodes.take(for: client)
      _ = self.bytes.take(bytes, for: client)
      return client
    }
  }

  private let state: Mutex<State>

  /// - Parameter bytes: The memory for all decodes.
  init(workers: Int, bytes: Int) {
    state = Mutex(
      State(
        parts: Parts(
          decodes: Shares(capacity: .max, most: (workers + 1) / 2), bytes: Shares(capacity: .max, most: bytes / 2))))
  }

  /// Waits until one of the job's clients has a part left. Nil for a job without a client.
  func turn(of bytes: Int, for job: JobContext) async throws(ThumbnailError) -> Turn? {
    if job.clients.isEmpty { return nil }
    let promise = Promise<Turn, ThumbnailError>()
    state.withLock { $0.waiters.append(Waiter(bytes: bytes, job: job, promise: promise)) }
    admit()
    return try await promise.wait { [weak self] in
      promise.resume(with: .failure(.cancelled))
      self?.state.withLock { $0.waiters.removeAll { $0.promise === promise } }
    }.get()
  }

  /// The same without waiting; nil if it has to wait, or if a decode of one of its clients waits.
  func turnNow(of bytes: Int, for job: JobContext) -> Turn? {
    state.withLock { state in
      let clients = job.clients
      // It does not overtake its own clients' decodes. Those of others do not delay it.
      let overtakes = state.waiters.contains { !$0.job.clients.isDisjoint(with: clients) }
      return overtakes ? nil : state.parts.take(bytes, for: job)
    }.map { Turn(self, $0, bytes) }
  }

  /// Checks the waiting jobs again: a turn has ended, or a job has got another client. For each client the order is
  /// first come, first served, so that small decodes do not delay a large one of the same client without end.
  func admit() {
    let admitted = state.withLock { state in
      var admitted: [(Waiter, Turn)] = []
      var passedOver: Set<String> = []
      state.waiters.removeAll { waiter in
        let clients = waiter.job.clients
        guard !clients.isSubset(of: passedOver), let client = state.parts.take(waiter.bytes, for: waiter.job) else {
          passedOver.formUnion(clients)
          return false
        }
        admitted.append((waiter, Turn(self, client, waiter.bytes)))
        return true
      }
      return admitted
    }
    for (waiter, turn) in admitted { waiter.promise.resume(with: .success(turn)) }
  }

  private func end(_ client: String, _ bytes: Int) {
    state.withLock { state in
      state.parts.decodes.giveBack(of: client)
      state.parts.bytes.giveBack(bytes, of: client)
    }
    admit()
  }
}
