import Foundation
import ThumbnailCore

/// An input whose thumbnails have to be made.
struct StaleInput: Sendable {
  let index: Int
  /// The path as named or found.
  let path: RawPath
  let absolutePath: RawPath
  /// The planned paths of its thumbnails, one for each size, with `openEnd` if the format is not decided yet.
  let planned: [[UInt8]]
  /// Whether these differ from the plain names to avoid a collision.
  let isToldApart: Bool
  /// The state of the file when it was checked.
  var state: FileState
}

/// Checks for one input after another whether it has to be converted. Blocks for a few system calls each.
struct InputCheck: Sendable {
  enum Finding: Sendable {
    case finished(ConversionResult)
    case stale(StaleInput)
  }

  let list: InputList
  /// Inputs that are the same file as an earlier one.
  let repeated: Set<Int>
  let names: OutputNames
  let output: RawPath
  let index: ConversionIndex
  let earlier: EarlierOutputs
  let freshness: FolderConverter.Options.Freshness
  let token: String
  /// Whether thumbnails of damaged images are acceptable.
  let acceptsDamage: Bool
  let isDryRun: Bool

  /// Suffix of an entry's token if the source is damaged: such an entry is current only if damage is accepted.
  static let damageMark = "d"

  /// Checks the input at `position`; positions after the last input are what could not be listed.
  func look(at position: Int) -> Finding {
    guard position < list.count else { return .finished(problem(list.problems[position - list.count], position)) }
    if let reason = Self.reasonToSkip(list.kind(at: position), isRepeated: repeated.contains(position)) {
      return .finished(
        result(position, .skipped, failure: .init(stage: .list, code: reason.code, message: reason.message)))
    }
    guard let planned = names.planned(for: list.source(at: position)) else {
      return .finished(
        result(
          position, .failed,
          failure: .init(
            stage: .write, code: "name-unusable",
            message: "its name makes an output that cannot be written; rename it, or give another name template")))
    }
    let state: FileState
    do throws(SystemFailure) {
      state = try FileState(of: list.path(at: position))
    } catch {
      return .finished(result(position, .failed, failure: .unreadable(error)))
    }
    guard state.kind == .regular else {
      return .finished(
        result(
          position, .failed,
          failure: .init(stage: .read, code: "not-a-file", message: "not a file; name the file itself")))
    }
    if let outputs = currentOutputs(position, planned, state) {
      return .finished(result(position, .current, outputs: outputs, replaced: earlier.giveWay(of: position)))
    }
    if isDryRun {
      return .finished(
        result(
          position, .skipped, outputs: planned.map { ConversionOutput(path: OutputNames.shown($0)) },
          failure: .dryRun, replaced: earlier.giveWay(of: position)))
    }
    return .stale(
      StaleInput(
        index: position, path: list.path(at: position), absolutePath: list.absolutePath(at: position), planned: planned,
        isToldApart: list.isToldApart(at: position), state: state))
  }

  /// The token that an up-to-date entry has in the index.
  private func token(for position: Int, isDamaged: Bool = false) -> String {
    token + (isDamaged ? Self.damageMark : "") + (list.isToldApart(at: position) ? IndexEntry.toldApart : "")
  }

  private func result(
    _ position: Int, _ status: ConversionResult.Status, outputs: [ConversionOutput] = [],
    failure: ConversionFailure? = nil, replaced: [RawPath] = []
  ) -> ConversionResult {
    ConversionResult(
      index: position, source: list.path(at: position), status: status, outputs: outputs, failure: failure, plan: nil,
      duration: .zero, isToldApart: !outputs.isEmpty && list.isToldApart(at: position), replaced: replaced)
  }

  private func problem(_ problem: InputList.Problem, _ position: Int) -> ConversionResult {
    ConversionResult(
      index: position, source: problem.path, status: problem.status, outputs: [], failure: problem.failure, plan: nil,
      duration: .zero)
  }

  private static func reasonToSkip(
    _ kind: InputList.Kind, isRepeated: Bool
  ) -> (code: String, message: String)? {
    switch kind {
    case .picture: isRepeated ? ("named-before", "named before") : nil
    case .otherName: ("not-named-like-a-picture", "not named like a picture; take it all the same (include)")
    case .link: ("link", "a link; follow it (followsLinks)")
    case .special: ("not-a-file", "neither a file nor a folder")
    case .ownOutput: ("own-output", "it lies in the output folder")
    }
  }

  /// The thumbnails, if they are up to date.
  private func currentOutputs(_ position: Int, _ planned: [[UInt8]], _ state: FileState) -> [ConversionOutput]? {
    // Read in any case, to mark the entry as belonging to an existing input.
    let entry = index.entry(OutputNames.key(planned))
    let isDamaged = entry?.token == token(for: position, isDamaged: true)
    if isDamaged && !acceptsDamage { return nil }
    switch freshness {
    case .never: return nil
    case .index:
      guard let entry, entry.token == token(for: position) || isDamaged, entry.modified == state.modified,
        entry.byteCount == state.byteCount,
        entry.source == list.absolutePath(at: position), entry.outputs.count == planned.count,
        entry.outputs.allSatisfy(isThere)
      else { return nil }
      return entry.outputs.map { $0.marked(isDamaged) }
    case .modificationTime:
      var outputs: [ConversionOutput] = []
      for path in planned {
        guard let found = names.possiblePaths(path).first(where: { isThere($0, since: state.modified) }) else {
          return nil
        }
        let known = entry?.outputs.first { $0.path.bytes == found }
        outputs.append((known ?? ConversionOutput(path: RawPath(bytes: found))).marked(isDamaged))
      }
      return outputs
    }
  }

  private func isThere(_ thumbnail: ConversionOutput) -> Bool {
    guard let state = try? FileState(of: output.appending(thumbnail.path.bytes)) else { return false }
    return state.kind == .regular && state.byteCount == thumbnail.byteCount
  }

  private func isThere(_ path: [UInt8], since modified: Int) -> Bool {
    guard let state = try? FileState(of: output.appending(path)) else { return false }
    return state.kind == .regular && state.modified >= modified
  }
}

extension ConversionOutput {
  /// The output with `isDamaged` set.
  fileprivate func marked(_ isDamaged: Bool) -> ConversionOutput {
    var output = self
    output.isDamaged = isDamaged
    return output
  }
}

extension ConversionFailure {
  /// The failure for a file that cannot be opened or examined.
  static func unreadable(_ failure: SystemFailure) -> ConversionFailure {
    failure.code == ENOENT
      ? .init(stage: .read, code: "not-found", message: "no such file; check its path")
      : .init(stage: .read, code: "unreadable", message: "the file cannot be read: \(failure.reason)")
  }
}
