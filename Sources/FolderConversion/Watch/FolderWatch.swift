import Synchronization
import ThumbnailCore
import Thumbnailer

/// Converts folders, then stays and converts what changes in them.
///
///     let watch = try await FolderConverter(options).watch()
///     for await result in watch.everything { print(result.source, result.status) }
///     _ = await watch.everything.finish()
///     while let changes = try await watch.next() {
///       for await result in changes { print(result.source, result.status) }
///       _ = await changes.finish()
///     }
///     await watch.finish()
///
/// Both loops may run at the same time: pictures that come meanwhile need not wait for all others. The `orphans()` of
/// changes are the thumbnails of pictures that were removed from their folders, not of those that went with their disk.
package final class FolderWatch: Sendable {
  /// The conversion of what was there at the start.
  package let everything: Conversion
  /// Whether changes are found by looking at all folders from time to time, and why: one line for the user.
  package var reasonToPoll: String? {
    if let remote = tree.remote {
      return "\(remote) is on a network file system, whose changes are not told: looking every \(Self.interval) s"
    }
    return tree.isFull
      ? "there are more folders than may be watched: looking at all every \(Self.interval) s; raise "
        + "fs.inotify.max_user_watches" : nil
  }

  /// The seconds between two looks at all folders, where changes are not told, or thumbnails could not be written.
  private static let interval = 60
  private let folders: [RawPath]
  private let session: ConversionSession
  private let tree: TreeWatch
  private let pool = WorkerPool(name: "thumbnailer.watch", threads: 1)
  private let state = Mutex(State())

  private struct State {
    var lastLook = ContinuousClock.now
    /// The watched folders, by their paths; those that are gone have none.
    var roots: [RawPath: FileState] = [:]
    /// Whether a conversion could not be started, so that everything is looked at with the next change.
    var hasFailed = false
    /// Whether thumbnails could not be written, so that everything is looked at soon.
    var hasFailedWrites = false
  }

  init(_ options: FolderConverter.Options) async throws(ConversionError) {
    var folders: [RawPath] = []
    for input in options.inputs {
      guard case .path(let path) = input else {
        throw .invalidOption(reason: "only folders can be watched: name folders")
      }
      guard let state = try? FileState(of: path) else {
        throw .invalidOption(reason: "\(path) does not exist: check its path")
      }
      guard state.kind == .folder else { throw .invalidOption(reason: "\(path) is no folder: name its folder") }
      folders.append(path)
    }
    self.folders = folders
    state.withLock { $0.roots = Self.roots(folders) }
    tree = try TreeWatch()
    session = try await ConversionSession(options, watch: tree)
    do throws(ConversionError) {
      everything = try await session.conversion(of: nil)
    } catch {
      await session.finish()
      throw error
    }
  }

  /// Waits until something has changed, and starts its conversion; nil if the task was cancelled.
  ///
  /// Finish it before the next call. Pictures that cannot be shown are not tried again until they change.
  ///
  /// - Throws: `.cannotWrite` if the output folder is gone; `.collisions` if names collide with the user's own template
  ///   now: then all is looked at with the next change.
  package func next() async throws(ConversionError) -> Conversion? {
    while true {
      let found = try? await pool.run { [self] cancelled in changes(cancelled) }
      guard let found, !Task.isCancelled else { return nil }
      if found.changes.isEmpty { continue }
      do throws(ConversionError) {
        return try await session.conversion(of: found.changes, missing: found.missing)
      } catch .cancelled {
        return nil
      } catch {
        state.withLock { $0.hasFailed = true }
        throw error
      }
    }
  }

  /// Waits for changes. Also returns the folders that were gone before.
  private func changes(_ cancelled: CancellationFlag) -> (changes: TreeChanges, missing: Set<RawPath>) {
    let (isPolling, lastLook, isMissing) = state.withLock { state in
      if session.takeFailedWrites() { state.hasFailedWrites = true }
      return (reasonToPoll != nil || state.hasFailedWrites, state.lastLook, state.roots.count < folders.count)
    }
    let look = lastLook + .seconds(Self.interval)
    let soon = ContinuousClock.now + .seconds(isMissing ? 1 : Self.interval)
    var changes = tree.wait(until: isPolling ? min(look, soon) : soon, cancelled: cancelled)
    let now = Self.roots(folders)
    return state.withLock { state in
      let before = state.roots
      state.roots = now
      // Another folder has a root's name, or it is back.
      let isOther = now.contains { path, file in before[path].map { !$0.isSameFile(as: file) } ?? true }
      if isOther || isPolling && ContinuousClock.now >= look || state.hasFailed && !changes.isEmpty {
        changes.isIncomplete = true
      }
      if changes.isIncomplete { (state.lastLook, state.hasFailed, state.hasFailedWrites) = (.now, false, false) }
      // A folder that has just gone is told once, as an input that failed.
      return (changes, Set(folders.filter { now[$0] == nil && before[$0] == nil }))
    }
  }

  private static func roots(_ folders: [RawPath]) -> [RawPath: FileState] {
    folders.reduce(into: [:]) { roots, path in
      if let state = try? FileState(of: path), state.kind == .folder { roots[path] = state }
    }
  }

  /// Completes the index and unlocks the output folder. Call it at the end.
  package func finish() async { await session.finish() }
}

extension FolderConverter {
  /// Converts the folders, and stays.
  ///
  /// - Throws: `ConversionError`, with nothing written.
  package func watch() async throws(ConversionError) -> FolderWatch {
    if let problem = options.problem { throw .invalidOption(reason: problem) }
    return try await FolderWatch(options)
  }
}
