import Synchronization
public import ThumbnailCore
import Thumbnailer

/// A running conversion: the results of its inputs as they complete, and the summary at the end.
///
/// One consumer iterates it once and ends it with `finish()`. Cancelling the consuming task or dropping the iterator
/// stops the work; finished thumbnails are kept.
public final class Conversion: AsyncSequence, Sendable {
  /// The result of one input.
  public typealias Element = ConversionResult
  /// Failures are elements: the sequence itself never throws.
  public typealias Failure = Never

  /// The number of inputs, and of results unless the run is stopped.
  public let count: Int

  /// The number of inputs that are checked at once.
  static let batch = 256

  let plan: ConversionPlan
  let check: InputCheck
  /// The output folder, and the pipeline for its thumbnails; nil in a dry run.
  private let folder: OutputFolder?
  let work: InputConversion?
  let pool: WorkerPool
  let window: Int
  let running = TaskBag()
  let state: Mutex<State>

  struct State {
    var next = 0
    var summary = ConversionSummary()
    let started: ContinuousClock.Instant
  }

  private init(
    _ plan: ConversionPlan, index: ConversionIndex, folder: OutputFolder?, pipeline: ThumbnailPipeline?,
    pool: WorkerPool, started: ContinuousClock.Instant
  ) {
    (self.plan, self.folder, self.pool) = (plan, folder, pool)
    count = plan.count
    check = InputCheck(plan: plan, index: index)
    window = 4 * (pipeline?.configuration.jobs ?? 1)
    let destination = folder.map(InputConversion.Destination.folder) ?? plan.options.desktop.map { .desktop($0) }
    work = pipeline.flatMap { pipeline in
      destination.map { InputConversion(plan, pipeline: pipeline, destination: $0, pool: pool) }
    }
    state = Mutex(State(started: started))
  }

  /// Finds the inputs and locks the output folder.
  static func start(_ options: FolderConverter.Options) async throws(ConversionError) -> Conversion {
    let started = ContinuousClock.now
    // Two threads, so that a slow disk does not block the checks of other inputs.
    let pool = WorkerPool(name: "thumbnailer.batch", threads: 2)
    let pipeline = options.isDryRun ? nil : try options.makePipeline()
    let result: Result<Conversion, ConversionError>
    do {
      result = try await pool.run { cancelled in
        Result { () throws(ConversionError) in
          let folder = options.isDryRun || options.desktop != nil ? nil : try OutputFolder(options.output)
          let index = folder?.index ?? ConversionIndex(folder: options.output)
          do throws(ConversionError) {
            let plan = try ConversionPlan(options, index: index, cancelled: cancelled)
            return Conversion(
              plan, index: index, folder: folder, pipeline: pipeline, pool: pool, started: started)
          } catch {
            folder?.release()
            throw error
          }
        }
      }
    } catch {
      throw .cancelled
    }
    return try result.get()
  }

  /// Starts the iteration.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// The thumbnails of earlier runs whose source images no longer exist, or have thumbnails of other names or sizes now.
  /// Empty if any folder could not be listed, since its images may still exist. Call it after the last result.
  public func orphans() async -> [ConversionOrphan] {
    guard plan.list.isComplete else { return [] }
    return await pool.runToEnd { [check, options = plan.options] in
      if let desktop = options.desktop { return desktop.orphans(of: options.inputs) }
      return check.index.orphans().map {
        ConversionOrphan(source: $0.source, outputs: $0.outputs.map(\.path), key: $0.key)
      }
    }
  }

  /// Removes orphaned thumbnails, and folders that are then empty.
  public func remove(_ orphans: [ConversionOrphan]) async {
    guard let work else { return }
    await pool.runToEnd { [check] in
      for orphan in orphans {
        for path in orphan.outputs { work.remove(path) }
        check.index.remove(orphan.key)
      }
    }
    state.withLock { $0.summary.removed += orphans.reduce(0) { $0 + $1.outputs.count } }
  }

  /// Waits for the work in flight, completes the index, and returns the summary. Call it once, whether all results were
  /// consumed or not, also after a cancellation.
  public func finish() async -> ConversionSummary {
    running.cancelAll()
    await running.waitForAll()
    if let folder {
      await pool.runToEnd {
        folder.index.finish()
        folder.release()
      }
      if let failure = folder.index.failure {
        state.withLock { state in
          if state.summary.failure == nil {
            state.summary.failure = .cannotWrite(
              path: plan.options.output.appending(ConversionIndex.name.utf8), reason: failure.reason)
          }
        }
      }
    }
    return state.withLock { state in
      state.summary.duration = .now - state.started
      return state.summary
    }
  }
}

/// The thumbnails of an earlier run that no source image has any more.
public struct ConversionOrphan: Sendable {
  /// The path of the source image.
  public let source: RawPath
  /// Its thumbnails, relative to the output folder.
  public let outputs: [RawPath]
  let key: UInt64
}
