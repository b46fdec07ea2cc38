import Foundation
import Synchronization
import ThumbnailCore

/// An input whose thumbnails have to be made.
struct StaleInput: Sendable {
  let index: Int
  /// The planned paths of its thumbnails, one for each size, with `openEnd` if the format is not decided yet.
  let planned: [[UInt8]]
  /// The key of its entry in the index.
  var key: UInt64 = 0
  /// The state of the file when it was checked.
  var state: FileState
  /// Whether it has changed while it was read.
  var isSecondAttempt = false
}

/// Checks for one input after another whether it has to be converted. Blocks for a few system calls each.
final class InputCheck: Sendable {
  enum Finding: Sendable {
    case finished(ConversionResult)
    case stale(StaleInput)
    /// It lies in no changed folder.
    case unchanged
  }

  let plan: ConversionPlan
  private let session: ConversionSession
  var index: ConversionIndex { session.index }

  private let changes: TreeChanges?
  /// The keys of the thumbnails of this run's inputs.
  private let seen = Mutex<Set<UInt64>>([])

  init(plan: ConversionPlan, session: ConversionSession, _ changes: TreeChanges?) {
    (self.plan, self.session, self.changes) = (plan, session, changes)
  }

  /// Notes a key of the index as one of this run.
  func note(_ key: UInt64) { _ = seen.withLock { $0.insert(key) } }

  /// See `Conversion.orphans`.
  ///
  /// - Parameter isComplete: Whether all inputs were looked at.
  func orphans(isComplete: Bool) -> [ConversionOrphan] {
    let isWholeSite = plan.options.site != nil && isComplete
    let (list, listed) = (plan.list, plan.listed)
    return index.orphans(seen.withLock { $0 }) { entry in
      // What a site's pages do not show any more is no part of the site.
      if entry.token == SiteWriter.token { return isWholeSite }
      return list.leavesOut(entry.source, listed)
        ?? (isWholeSite && !entry.source.isWithin(list.root) ? true : nil)
    }.map { entry in
      // Its thumbnails may be those of other folders' pictures, too.
      let away = ([entry] + entry.outputs.flatMap { index.entries(naming: $0.path.bytes) }).contains {
        $0.source.mayBeAway(since: $0.disk, countsEmpty: changes == nil)
      }
      var orphan = ConversionOrphan(source: entry.source, outputs: [], mayBeAway: away, key: entry.key)
      for path in entry.outputs.map(\.path) {
        let kind = session.root?.state(of: path.bytes)?.kind
        // A site publishes what is behind links and in closed folders, too; what else is there is nobody's business.
        let isPublished = plan.options.site != nil && session.root?.mayHave(path.bytes) == true
        guard kind == .regular || kind == .link || isPublished else { continue }
        if kind == .folder, session.root?.names(in: path.bytes) != nil { continue }
        judge(path, of: &orphan, list)
      }
      return orphan
    }
  }

  /// Whether an output is removed, or stays: a link leads to it, or may, or it is not what was written.
  private func judge(_ path: RawPath, of orphan: inout ConversionOrphan, _ list: InputList) {
    if isLinked(path, in: list) {
      orphan.isLinked = true
    } else if !mayBeLinked(path, in: list),
      index.written(path.bytes, asIn: index.entries(naming: path.bytes)) != nil
    {
      orphan.outputs.append(path)
    } else {
      orphan.changed.append(path)
    }
  }

  /// Whether a link among the inputs leads to an output.
  private func isLinked(_ path: RawPath, in list: InputList) -> Bool {
    guard !list.linkedOutputs.isEmpty, let output = session.root?.path.resolved?.appending(path.bytes) else {
      return false
    }
    return list.linkedPaths.contains { output.isWithin($0) }
      || output.places.contains(where: list.linkedOutputs.contains)
  }

  /// Whether a link may lead to the only copy of an original: one that leads nowhere here, as in a container, or has the
  /// original's place.
  private func mayBeLinked(_ path: RawPath, in list: InputList) -> Bool {
    guard path.bytes.starts(with: SiteNames.originals) else { return false }
    var isLink = list.mayMissLinks
    for entry in index.entries(naming: path.bytes) {
      guard let original = try? FileState(of: entry.source, followingLinks: false) else { continue }
      if original.kind == .regular, original.modified == entry.modified, original.byteCount == entry.byteCount,
        index.written(path.bytes, asIn: [entry]) != nil
      {
        return false
      }
      isLink = isLink || original.kind == .link && (try? FileState(of: entry.source)) == nil
    }
    return isLink
  }

  /// Leaves out the copies of originals to which links lead that have come since the inputs were listed.
  func withoutLinked(_ orphans: [ConversionOrphan]) -> [ConversionOrphan] {
    let copies = orphans.lazy.flatMap(\.outputs).filter { $0.bytes.starts(with: SiteNames.originals) }
    if copies.isEmpty { return orphans }
    var finder = InputFinder(plan.options, cancelled: CancellationFlag())
    // Where the folder is gone by now, nothing is known.
    let list = (try? finder.run()).flatMap { $0.isComplete ? $0 : nil }
    return orphans.map { orphan in
      var left = orphan
      left.outputs = []
      for path in orphan.outputs {
        if !path.bytes.starts(with: SiteNames.originals) {
          left.outputs.append(path)
        } else if let list {
          judge(path, of: &left, list)
        } else {
          left.isLinked = true
        }
      }
      return left
    }
  }

  /// Checks the input at `position`; positions after the last input are entries that could not be listed.
  func check(_ position: Int) -> Finding {
    let list = plan.list
    guard position < list.count else {
      let problem = list.problems[position - list.count]
      return .finished(
        ConversionResult(
          source: problem.path, status: problem.status, outputs: [], failure: problem.failure, plan: nil,
          duration: .zero))
    }
    if let reason = reasonToSkip(position) { return .finished(plan.result(of: position, .skipped, failure: reason)) }
    guard let planned = plan.names.planned(for: list.source(at: position)) else {
      return failed(
        position, .write, "name-unusable",
        "its name makes an output that cannot be written; rename it, or give another name template")
    }
    let key = plan.key(of: position, planned, try? list.state(at: position), in: index)
    // In any case, since it belongs to an existing input.
    note(key)
    if let changes, !changes.include(list.folder(at: position)) { return .unchanged }
    let state: FileState
    do throws(SystemFailure) {
      state = try list.state(at: position)
    } catch {
      return .finished(plan.result(of: position, .failed, failure: .unreadable(error)))
    }
    guard state.kind == .regular else {
      if state.kind == .link {
        let isBroken = (try? FileState(of: list.path(at: position))) == nil
        let failure = ConversionFailure.unreadable(SystemFailure(code: isBroken ? ENOENT : ELOOP))
        return .finished(plan.result(of: position, .failed, failure: failure))
      }
      return failed(position, .read, "not-a-file", "not a file; name the file itself")
    }
    if session.hasFailed(list.absolutePath(at: position), state) {
      return .finished(plan.result(of: position, .skipped, failure: .failedBefore))
    }
    if let desktop = plan.options.desktop { return check(position, state, in: desktop) }
    let entry = index.entry(key) ?? entryWithoutCopy(position, key)
    if let outputs = currentOutputs(position, planned, state, entry) {
      return .finished(plan.result(of: position, .current, outputs: outputs))
    }
    if plan.options.isDryRun {
      return .finished(
        plan.result(
          of: position, .skipped, outputs: planned.map { ConversionOutput(path: OutputNames.shown($0)) },
          failure: .dryRun))
    }
    return .stale(StaleInput(index: position, planned: planned, key: key, state: state))
  }

  /// Checks an input whose thumbnails all programs of the desktop share.
  private func check(_ position: Int, _ state: FileState, in desktop: DesktopFolder) -> Finding {
    guard let picture = DesktopPicture(plan.list.path(at: position), state: state) else {
      return failed(position, .write, "name-unusable", "its name has no URI; rename it")
    }
    if plan.options.freshness != .never {
      if let outputs = desktop.current(picture) {
        return .finished(plan.result(of: position, .current, outputs: outputs))
      }
      if desktop.hasFailed(picture) {
        return .finished(plan.result(of: position, .skipped, failure: .failedBefore))
      }
    }
    if plan.options.isDryRun {
      return .finished(
        plan.result(of: position, .skipped, outputs: desktop.outputs(of: picture), failure: .dryRun))
    }
    return .stale(StaleInput(index: position, planned: [], state: state))
  }

  /// The entry of a run that copied originals, for one that does not: its thumbnails stay in use.
  private func entryWithoutCopy(_ position: Int, _ key: UInt64) -> IndexEntry? {
    guard plan.options.site?.copiesOriginals == false,
      let copied = plan.names.planned(for: plan.list.source(at: position), copying: true),
      var entry = index.entry(OutputNames.key(copied))
    else { return nil }
    entry.key = key
    entry.outputs.removeLast()
    if !plan.options.isDryRun { index.add(entry) }
    return entry
  }

  private func failed(
    _ position: Int, _ stage: ConversionFailure.Stage, _ code: String, _ message: String
  ) -> Finding {
    .finished(plan.result(of: position, .failed, failure: .init(stage: stage, code: code, message: message)))
  }

  private func reasonToSkip(_ position: Int) -> ConversionFailure? {
    switch plan.list.kind(at: position) {
    case .picture:
      plan.claims.repeated.contains(position)
        ? .init(stage: .list, code: "named-before", message: "named before") : nil
    case .otherName:
      .init(
        stage: .list, code: "not-named-like-a-picture",
        message: "not named like a picture; include it (include)")
    case .video:
      .init(stage: .list, code: ConversionFailure.video, message: "a film; thumbnails are made of pictures only")
    case .paired:
      .init(stage: .list, code: ConversionFailure.paired, message: "the JPEG beside it is converted (pairing)")
    case .link: .init(stage: .list, code: "link", message: "a link; follow it (followsLinks)")
    case .special: .init(stage: .list, code: "not-a-file", message: "neither a file nor a folder")
    case .ownOutput: .init(stage: .list, code: "own-output", message: "it lies in the output folder")
    }
  }

  /// The thumbnails, if they are up to date.
  private func currentOutputs(
    _ position: Int, _ planned: [[UInt8]], _ state: FileState, _ entry: IndexEntry?
  ) -> [ConversionOutput]? {
    let isDamaged = entry?.token == plan.token(of: position, isDamaged: true)
    if isDamaged, plan.options.pipeline.damaged != .accept { return nil }
    guard plan.options.freshness == .index, let entry,
      isDamaged || entry.token == plan.token(of: position, isDamaged: false),
      entry.modified == state.modified,
      entry.byteCount == state.byteCount,
      entry.source == plan.list.absolutePath(at: position), entry.outputs.count == planned.count,
      entry.outputs.allSatisfy(isThere),
      // A kill may have come between the index and the names.
      index.entries(entry.key).count == 1
        || entry.outputs.allSatisfy({ session.index.written($0.path.bytes, asIn: [entry]) != nil })
    else { return nil }
    if !plan.options.isDryRun { session.folder?.renew(entry, disk: plan.disk(of: position, state)) }
    return entry.outputs.map { output in
      var output = output
      (output.isDamaged, output.digest) = (isDamaged, nil)
      return output
    }
  }

  /// Whether an output of the index is still the file that was written.
  func isThere(_ thumbnail: ConversionOutput) -> Bool {
    guard let state = session.root?.state(of: thumbnail.path.bytes) else { return false }
    return state.kind == .regular && state.byteCount == thumbnail.byteCount
  }
}

extension ConversionFailure {
  fileprivate static let failedBefore = ConversionFailure(
    stage: .decode, code: "failed-before", message: "it failed before; to try again, force it (freshness)")

  /// The failure for a file that cannot be opened or examined.
  static func unreadable(_ failure: SystemFailure) -> ConversionFailure {
    failure.code == ELOOP
      ? .init(stage: .read, code: "link", message: "a link has come into its path; follow links (followsLinks)")
      : failure.code == ENOENT
        ? .init(stage: .read, code: "not-found", message: "no such file, or a broken link; check its path")
        : .init(stage: .read, code: "unreadable", message: "the file cannot be read: \(failure.reason)")
  }
}
