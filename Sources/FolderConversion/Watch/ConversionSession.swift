import Exports
import Synchronization
import ThumbnailCore
import Thumbnailer

/// What several conversions into one folder share: its lock and index, and the pipeline.
final class ConversionSession: Sendable {
  private let options: FolderConverter.Options
  let folder: OutputFolder?
  let index: ConversionIndex
  let pipeline: ThumbnailPipeline?
  // Two threads, so that a slow disk does not block the checks of other inputs.
  let pool = WorkerPool(name: "thumbnailer.batch", threads: 2)
  let started = ContinuousClock.now
  /// Whether it outlives its first conversion.
  let stays: Bool
  private let watch: TreeWatch?
  /// The pictures that failed, as they were then, by the hashes of their paths.
  private let failed = Mutex<[UInt64: FileState]>([:])

  /// Locks the output folder.
  ///
  /// - Parameter watch: Gets the folders that are listed; nil for a single conversion.
  init(_ options: FolderConverter.Options, watch: TreeWatch? = nil) async throws(ConversionError) {
    (self.options, self.watch) = (options, watch)
    stays = watch != nil
    pipeline = options.isDryRun ? nil : try options.makePipeline()
    let needsFolder = !options.isDryRun && options.desktop == nil
    let opened: Result<OutputFolder?, ConversionError>
    do {
      opened = try await pool.run { _ in
        Result { () throws(ConversionError) in needsFolder ? try OutputFolder(options.output) : nil }
      }
    } catch {
      throw .cancelled
    }
    folder = try opened.get()
    index = folder?.index ?? ConversionIndex(folder: options.output)
  }

  /// Finds the inputs, or those in the changed folders.
  ///
  /// - Parameter missing: Input folders that are gone for the moment, with all their pictures.
  func conversion(of changes: TreeChanges?, missing: Set<RawPath> = []) async throws(ConversionError) -> Conversion {
    let result: Result<Conversion, ConversionError>
    do {
      result = try await pool.run { [self] cancelled in
        Result { () throws(ConversionError) in
          index.forgetSeen()
          let scope = changes.map { ConversionScope($0, unfinished: watch?.unfinished ?? []) }
          var options = options
          options.inputs.removeAll { if case .path(let path) = $0 { missing.contains(path) } else { false } }
          let plan = try ConversionPlan(options, scope, index: index, session: self, cancelled: cancelled)
          return Conversion(
            plan, session: self,
            hasRemovals: missing.isEmpty && changes.map { $0.hasRemovals || $0.isIncomplete } ?? true)
        }
      }
    } catch {
      throw .cancelled
    }
    return try result.get()
  }

  /// Watches a folder that is about to be listed.
  func willList(_ folder: RawPath) { watch?.add(folder) }

  /// Whether a picture failed in an earlier conversion and is unchanged. False without a watch.
  func hasFailed(_ path: RawPath, _ state: FileState) -> Bool {
    stays && failed.withLock { $0[NamingTemplate.seededHash(path.bytes)] == state }
  }

  func noteFailure(_ path: RawPath, _ state: FileState) {
    if stays { failed.withLock { $0[NamingTemplate.seededHash(path.bytes)] = state } }
  }

  /// Completes the index, and unlocks the output folder.
  func finish() async {
    guard let folder else { return }
    await pool.runToEnd {
      folder.index.finish()
      folder.release()
    }
  }
}
