import Exports
import Synchronization
import ThumbnailCore
import Thumbnailer

/// What several conversions into one folder share: its lock and index, and the pipeline.
final class ConversionSession: Sendable {
  private let options: FolderConverter.Options
  let folder: OutputFolder?
  /// The output folder; nil if it does not exist.
  let root: RootFolder?
  let index: ConversionIndex
  let pipeline: ThumbnailPipeline?
  // Two threads, so that a slow disk does not block the checks of other inputs.
  let pool = WorkerPool(name: "thumbnailer.batch", threads: 2)
  let started = ContinuousClock.now
  /// Whether it outlives its first conversion.
  var stays: Bool { watch != nil }
  private let watch: TreeWatch?
  private let state = Mutex(State())

  private struct State {
    /// The pictures that cannot be shown, as they were then, by the hashes of their paths.
    var failed: [UInt64: FileState] = [:]
    var hasFailedWrites = false
  }

  /// Locks the output folder.
  ///
  /// - Parameter watch: Gets the folders that are listed; nil for a single conversion.
  init(_ options: FolderConverter.Options, watch: TreeWatch? = nil) async throws(ConversionError) {
    (self.options, self.watch) = (options, watch)
    pipeline = options.isDryRun ? nil : try options.makePipeline()
    let needsFolder = !options.isDryRun && options.desktop == nil
    folder = try await pool.run(orThrow: ConversionError.cancelled) { _ throws(ConversionError) in
      needsFolder ? try OutputFolder(options.output, isPublished: options.site != nil) : nil
    }
    root = folder?.root ?? (try? RootFolder(options.output))
    index = folder?.index ?? ConversionIndex(options.desktop == nil ? root : nil)
  }

  /// Finds the inputs, of which those in changed folders are converted. The others count for the names.
  ///
  /// - Parameters:
  ///   - changes: What has changed; nil for all.
  ///   - missing: Input folders that are gone for the moment, with all their pictures.
  func conversion(
    of changes: TreeChanges?, missing: Set<RawPath> = []
  ) async throws(ConversionError) -> Conversion {
    try await pool.run(orThrow: ConversionError.cancelled) { [self] cancelled throws(ConversionError) in
      if folder?.isInPlace == false {
        throw .cannotWrite(path: options.output, reason: "it was removed or replaced meanwhile")
      }
      var options = options
      options.inputs.removeAll { if case .path(let path) = $0 { missing.contains(path) } else { false } }
      // What was made anew once is current.
      if changes != nil, case .never = options.freshness { options.freshness = .index }
      return Conversion(try ConversionPlan(options, session: self, cancelled: cancelled), session: self, changes)
    }
  }

  /// Watches a folder that is about to be listed.
  func willList(_ folder: RawPath) { watch?.add(folder) }

  /// Whether a file is being written.
  func isUnfinished(_ path: [UInt8]) -> Bool { watch?.isUnfinished(path) ?? false }

  /// Whether an earlier conversion could not show a picture, which is unchanged. False without a watch.
  func hasFailed(_ path: RawPath, _ file: FileState) -> Bool {
    stays && state.withLock { $0.failed[NamingTemplate.seededHash(path.bytes)] == file }
  }

  /// Whether thumbnails could not be written since the last call.
  func takeFailedWrites() -> Bool {
    state.withLock { state in
      defer { state.hasFailedWrites = false }
      return state.hasFailedWrites
    }
  }

  /// Remembers a failure that lasts until the picture changes.
  func noteFailure(of path: RawPath, _ file: FileState) {
    if stays { state.withLock { $0.failed[NamingTemplate.seededHash(path.bytes)] = file } }
  }

  func noteFailedWrite() { state.withLock { $0.hasFailedWrites = true } }

  /// Completes the index, and unlocks the output folder.
  func finish() async {
    guard let folder else { return }
    await pool.runToEnd {
      folder.index.finish()
      folder.release()
    }
  }
}
