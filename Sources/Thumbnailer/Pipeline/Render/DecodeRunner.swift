import Dispatch
import ImageCodec
import ThumbnailCore

/// Runs decodes on worker threads, in memory from their share of the budget.
struct DecodeRunner: Sendable {
  /// The share of the memory budget that all decodes take together.
  let memory: WeightedSemaphore
  /// Whose decodes may run.
  let turns: DecodeTurns
  /// The threads for codec work and for opening files.
  let workers: WorkerPool
  /// The processors that decodes may use: one for each, and what is left for second threads.
  let spare: SpareProcessors
  let monitor: PipelineMonitor

  /// Memory for a decode, and its turn. Both are returned when it is released or its last copy is dropped.
  struct Reservation: Sendable {
    let memory: WeightedSemaphore.Reservation
    fileprivate let turn: DecodeTurns.Turn?

    func release() {
      memory.release()
      turn?.end()
    }
  }

  /// Waits for memory for a decode, and for the turn of its clients. `body` must be named if its bytes are borrowed from
  /// that memory.
  func reserve(
    _ bytes: Int, of body: ByteSource? = nil, for job: JobContext
  ) async throws(ThumbnailError) -> Reservation {
    let turn = try await turns.turn(of: bytes, for: job)
    do throws(WeightedSemaphore.Failure) {
      let held = try await memory.reserve(bytes, holdingLent: body?.isFileInMemory == true, priority: job.priority)
      return Reservation(memory: held, turn: turn)
    } catch {
      throw ThumbnailError(error)
    }
  }

  /// The result of a plan, and where its time went.
  struct Outcome<Value: Sendable>: Sendable {
    let value: Value
    /// Waiting for memory and for a worker.
    let waited: Duration
    /// The time on the worker.
    let duration: Duration
  }

  /// Carries out a plan on a worker, as soon as memory for it is free.
  ///
  /// - Parameter isReserved: Whether the caller holds the reservation for these bytes.
  func run<Value: Sendable>(
    _ plan: String, bytes: Int, isReserved: Bool = false, of body: ByteSource? = nil, for job: JobContext,
    _ decode: @escaping @Sendable (CancellationFlag) -> Value
  ) async throws(ThumbnailError) -> Outcome<Value> {
    let asked = ContinuousClock.now
    let reservation = isReserved ? nil : try await reserve(bytes, of: body, for: job)
    defer { reservation?.release() }
    monitor.send(job.source, .planned(description: plan, reservedBytes: bytes))
    let outcome = try await work(for: job) { [spare] cancellation in
      let started = ContinuousClock.now
      let value = spare.counting { decode(cancellation) }
      return Outcome(value: value, waited: started - asked, duration: .now - started)
    }
    monitor.add(1, to: \.decodes)
    return outcome
  }

  /// Does long work on a thread of its own, of a lower priority than that of other decodes, and waits for it.
  static func givingWay<Value>(_ body: @escaping @Sendable () -> Value) -> Value {
    let result = Handover<Value>()
    let end = DispatchSemaphore(value: 0)
    let hasStarted = SystemThread.start(name: "thumbnailer.long", stackBytes: 2 << 20) {
      // Twice: it has a ninth of the time of another decode.
      for _ in 0..<2 { SystemThread.giveWay() }
      result.value = body()
      Codec.threadWillEnd()
      end.signal()
    }
    if hasStarted { end.wait() }
    return result.value ?? body()
  }

  private final class Handover<Value>: @unchecked Sendable {
    // Safety: it is set before the thread says that it has ended, and read after that.
    var value: Value?
  }

  /// Runs blocking codec work on a worker thread.
  func work<Value: Sendable>(
    for job: JobContext, _ task: @escaping @Sendable (CancellationFlag) -> Value
  ) async throws(ThumbnailError) -> Value {
    do {
      return try await workers.run(priority: job.priority, task)
    } catch {
      throw .cancelled
    }
  }
}
