import Synchronization
public import ThumbnailCore
import Thumbnailer

/// Converts folders, then stays and converts what changes in them.
///
///     let watch = try await FolderConverter(options).watch()
///     for await result in watch.everything { print(result.source, result.status) }
///     _ = await watch.everything.finish()
///     while let changes = await watch.next() {
///       for await result in changes { print(result.source, result.status) }
///       _ = await changes.finish()
///     }
///     await watch.finish()
///
/// Both loops may run at the same time: pictures that come meanwhile need not wait for all others.
public final class FolderWatch: Sendable {
  /// The conversion of what was there at the start.
  public let everything: Conversion
  /// The watched folders.
  public let folders: [RawPath]
  /// Whether changes are found by looking at all folders from time to time, and why: one line for the user.
  public var reasonToPoll: String? {
    if let remote = folders.first(where: TreeWatch.isRemote) {
      return "\(remote) is on a network file system, whose changes are not told: looking every \(Self.interval) s"
    }
    return tree.isFull
      ? "there are more folders than may be watched: looking at all every \(Self.interval) s; raise "
        + "fs.inotify.max_user_watches" : nil
  }

  /// The seconds between two looks at all folders, where changes are not told.
  private static let interval = 60
  private let session: ConversionSession
  private let tree: TreeWatch
  private let pool = WorkerPool(name: "thumbnailer.watch", threads: 1)
  private let lastLook = Mutex(ContinuousClock.now)
  /// The folders that were gone at the last look.
  private let missing = Mutex<Set<RawPath>>([])

  init(_ options: FolderConverter.Options) async throws(ConversionError) {
    folders = options.inputs.compactMap { input in
      guard case .path(let path) = input, (try? FileState(of: path))?.kind == .folder else { return nil }
      return path
    }
    guard folders.count == options.inputs.count else {
      throw .invalidOption(reason: "only folders can be watched: name folders")
    }
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
  /// Finish it before the next call. Pictures that failed before are not tried again until they change.
  public func next() async -> Conversion? {
    while true {
      let isPolling = reasonToPoll != nil || !missing.withLock(\.isEmpty)
      let deadline = isPolling ? lastLook.withLock { $0 } + .seconds(Self.interval) : .now + .seconds(3600)
      let waited = try? await pool.run { [self] cancelled in
        tree.wait(
          until: missing.withLock(\.isEmpty) ? deadline : min(deadline, .now + .seconds(1)), cancelled: cancelled)
      }
      guard var changes = waited, !Task.isCancelled else { return nil }
      let gone = Set(folders.filter { (try? FileState(of: $0)) == nil })
      let before = missing.withLock { missing in
        defer { missing = gone }
        return missing
      }
      if !before.isSubset(of: gone) || isPolling && ContinuousClock.now >= deadline { changes.isIncomplete = true }
      if changes.isEmpty { continue }
      if changes.isIncomplete { lastLook.withLock { $0 = .now } }
      // A folder that has just gone is told once, as an input that failed.
      if let conversion = try? await session.conversion(of: changes, missing: gone.intersection(before)) {
        return conversion
      }
      if Task.isCancelled { return nil }
    }
  }

  /// Completes the index and unlocks the output folder. Call it at the end.
  public func finish() async { await session.finish() }
}

extension FolderConverter {
  /// Converts the folders, and stays.
  ///
  /// - Throws: `ConversionError`, with nothing written.
  public func watch() async throws(ConversionError) -> FolderWatch {
    if let problem = options.problem { throw .invalidOption(reason: problem) }
    return try await FolderWatch(options)
  }
}

/// Which part of the inputs a conversion is about.
struct ConversionScope: Sendable {
  private let changes: TreeChanges
  /// The folders above the changed ones, which are listed to find them.
  private let above: Set<[UInt8]>
  let unfinished: Set<[UInt8]>

  init(_ changes: TreeChanges, unfinished: Set<[UInt8]>) {
    (self.changes, self.unfinished) = (changes, unfinished)
    var above: Set<[UInt8]> = []
    for folder in changes.folders.union(changes.trees) {
      for (index, byte) in folder.dropLast().enumerated() where byte == RawPath.slash {
        above.insert(Array(folder[...index]))
      }
    }
    self.above = above
  }

  /// Whether the files of a folder, whose path ends with a slash, are inputs.
  func includes(_ folder: [UInt8]) -> Bool {
    changes.isIncomplete || changes.folders.contains(folder)
      || changes.trees.contains { folder.starts(with: $0) }
  }

  /// Whether a folder, or one within it, is included.
  func enters(_ folder: [UInt8]) -> Bool { above.contains(folder) || includes(folder) }
}
