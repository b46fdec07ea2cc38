import CLibC
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
  let session: ConversionSession
  private let changes: TreeChanges?
  /// Nil in a dry run.
  let work: InputConversion?
  let lanes: ConversionLanes?
  var pool: WorkerPool { session.pool }
  let state: Mutex<State>

  struct State {
    var next = 0
    var summary = ConversionSummary()
    let started: ContinuousClock.Instant
  }

  /// - Parameter changes: What has changed, if only that is meant.
  init(_ plan: ConversionPlan, session: ConversionSession, _ changes: TreeChanges?) {
    (self.plan, self.session, self.changes) = (plan, session, changes)
    count = plan.count
    check = InputCheck(plan: plan, session: session, changes)
    work = InputConversion(plan, session)
    lanes = work.map { ConversionLanes($0, in: [plan.list.root, plan.options.output]) }
    state = Mutex(State(started: session.stays ? .now : session.started))
  }

  /// Starts the iteration.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// The thumbnails of earlier runs whose source images no longer exist, are left out of the folders that were listed, or
  /// have thumbnails of other names or sizes now. Empty if an input could not be listed, since its images may still
  /// exist; without those of folders that could not be, those whose disk may be away, and files that are not what was
  /// written. Call it after the last result.
  public func orphans() async -> [ConversionOrphan] { await allOrphans().filter { !$0.mayBeAway } }

  /// `orphans()`, and those whose disk may be away.
  package func allOrphans() async -> [ConversionOrphan] {
    if let changes, changes.removed.isEmpty { return [] }
    guard plan.list.isComplete, plan.options.desktop == nil || plan.list.unlisted.isEmpty else { return [] }
    let isComplete = state.withLock { $0.next >= count && $0.summary.failure == nil }
    return await pool.runToEnd { [check, plan, changes] in
      var orphans =
        plan.options.desktop?.orphans(of: plan.options.inputs) ?? check.orphans(isComplete: isComplete)
      // A whole disk may be gone for the moment: only what was told counts.
      if let changes {
        for index in orphans.indices {
          orphans[index].source = RawPath(bytes: plan.list.opened(orphans[index].source))
        }
        orphans.removeAll { !changes.haveRemoved($0.source.bytes) }
      } else {
        let empty = plan.options.emptyFolders
        // Without any picture, names may be encrypted, or the disk's place may hold a note.
        let list = plan.list
        let isNone = plan.options.desktop == nil && !(0..<list.count).contains { list.kind(at: $0) == .picture }
        let isAway = { (source: RawPath) in
          isNone && (source.isGone || !source.isWithin(list.root)) || empty.contains { source.isWithin($0) }
        }
        for index in orphans.indices where isAway(orphans[index].source) { orphans[index].mayBeAway = true }
        // The pages are those of the folder itself.
        if isNone, orphans.contains(where: \.mayBeAway) {
          for index in orphans.indices where orphans[index].source == list.root { orphans[index].mayBeAway = true }
        }
      }
      return orphans
    }
  }

  /// Removes orphaned thumbnails, and folders that are then empty. What somebody has changed meanwhile stays.
  ///
  /// - Returns: Those that were removed.
  @discardableResult public func remove(_ orphans: [ConversionOrphan]) async -> [ConversionOrphan] {
    guard let work else { return [] }
    return await pool.runToEnd { [self] in
      check.withoutLinked(orphans).compactMap { orphan in
        var removed = orphan
        let results = orphan.outputs.map { work.remove($0, of: orphan.source) }
        removed.outputs = zip(orphan.outputs, results).compactMap { $1 == .removed ? $0 : nil }
        let unremoved = results.count { $0 == .failed }
        let kept = orphan.changed + zip(orphan.outputs, results).compactMap { $1 == .kept ? $0 : nil }
        // What stays is an orphan of the next run, too.
        if unremoved == 0, kept.isEmpty, !orphan.isLinked { check.index.remove(orphan.key) }
        state.withLock { state in
          state.summary.kept += kept
          state.summary.removed += removed.outputs.count
          state.summary.unremoved += unremoved
        }
        return removed.outputs.isEmpty ? nil : removed
      }
    }
  }

  /// Counts what somebody has changed, or no run knows, as what stays.
  package func keepChanged(_ orphans: [ConversionOrphan]) {
    state.withLock { $0.summary.kept += orphans.flatMap(\.changed) }
  }

  /// A message for each pattern that matched nothing.
  ///
  /// - Parameter isQuiet: Whether only those that name what is to be left out are meant.
  package func unusedPatterns(isQuiet: Bool) -> [String] {
    plan.unusedPatterns.filter { $0.isMistake || !isQuiet }.map(\.message)
  }

  /// Waits for the work in flight, completes the index unless others follow, and returns the summary. Call it once,
  /// whether all results were consumed or not, also after a cancellation.
  public func finish() async -> ConversionSummary {
    lanes?.stop()
    while await lanes?.next().isEmpty == false {}
    if let folder = session.folder {
      if !session.stays { await session.finish() }
      if let failure = folder.index.failure {
        state.withLock { state in
          if state.summary.failure == nil {
            state.summary.failure = .cannotWrite(
              path: plan.options.output.appending(ConversionIndex.name), reason: failure.reason)
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
  /// The path of the source image: absolute, or that of a watched folder's results.
  public internal(set) var source: RawPath
  /// Its thumbnails, relative to the output folder.
  public internal(set) var outputs: [RawPath]
  /// Whether its folder is empty, or on another disk than it was: a disk may be away, with the source image.
  package var mayBeAway = false
  /// Files in the places of thumbnails that somebody has changed since, or links.
  package var changed: [RawPath] = []
  /// Whether links in the folders lead to some, which stay.
  var isLinked = false
  let key: UInt64
}

extension RawPath {
  /// Whether it is on a mount of a program (FUSE) that is no disk's, such as NTFS.
  var isInUserSpace: Bool {
    guard withCString(clibc_file_system) == 0x6573_5546, let state = try? FileState(of: self) else { return false }
    // The major number is that of no disk.
    return state.device & 0xFFFF_F000_000F_FF00 == 0
  }

  /// The number of its file system, or of the device if that has none: some devices have another one after each mount,
  /// and two disks in one place may have the same. Nil if nothing is there.
  var disk: UInt64? {
    let number = UInt64(withCString(clibc_file_system_number))
    return number != 0 ? number : try? FileState(of: self).device
  }

  /// Whether the file, which is gone, may be on a disk that is not mounted now.
  ///
  /// - Parameters:
  ///   - disk: The number of its file system when it was there; nil if it is unknown.
  ///   - countsEmpty: Whether an empty folder may be the place of a disk.
  ///   - isShared: Whether devices may come and go as folders of the mount, as phones do.
  func mayBeAway(
    since disk: UInt64?, countsEmpty: Bool = true, isShared: (RawPath) -> Bool = \.isInUserSpace
  ) -> Bool {
    guard isGone else { return false }
    var place = self
    repeat {
      place = RawPath(bytes: place.folder.dropLast())
    } while !place.bytes.isEmpty && place.isGone
    guard let there = (place.bytes.isEmpty ? RawPath("/") : place).disk else { return true }
    if place != RawPath(bytes: folder.dropLast()), isShared(place) { return true }
    return countsEmpty && place.isEmptyFolder || disk.map { $0 != there } ?? false
  }
}
