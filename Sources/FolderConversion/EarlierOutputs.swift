import Exports
import Foundation
import ThumbnailCore

/// The thumbnails that an earlier run gave different names, because an input with the same plain name has been added or
/// removed since. They are removed once the new ones are written.
///
/// Determined before the first input is checked, and only if there are or were name collisions, so it is free
/// otherwise.
struct EarlierOutputs: Sendable {
  private let output: RawPath
  private let index: ConversionIndex
  /// Removes the thumbnails; nil in a dry run.
  private let folder: OutputFolder?
  /// The index keys of the earlier thumbnails, by input.
  private var keys: [Int: [UInt64]] = [:]

  init(_ plan: ConversionPlan, index: ConversionIndex, folder: OutputFolder?) {
    (output, self.index, self.folder) = (plan.options.output, index, folder)
    let (list, names) = (plan.list, plan.names)
    guard names.tellsApart, !index.isEmpty else { return }
    let inputs = (0..<list.count).lazy.filter { list.kind(at: $0) == .picture && !plan.claims.repeated.contains($0) }
    var strays = index.toldApart
    for input in inputs where list.distinction(at: input) != .plain {
      if let planned = names.planned(for: list.source(at: input)) { strays.remove(OutputNames.key(planned)) }
      find(input, plan)
    }
    guard !strays.isEmpty else { return }
    let sources = Set(strays.lazy.compactMap { index.peek($0).map { NamingTemplate.seededHash($0.source.bytes) } })
    for input in inputs where list.distinction(at: input) == .plain {
      if sources.contains(NamingTemplate.seededHash(list.absolutePath(at: input).bytes)) { find(input, plan) }
    }
  }

  private mutating func find(_ input: Int, _ plan: ConversionPlan) {
    let (list, names) = (plan.list, plan.names)
    guard let planned = names.planned(for: list.source(at: input)) else { return }
    var known = [OutputNames.key(planned)]
    for distinction in NameDistinction.allCases where distinction != list.distinction(at: input) {
      let source = list.source(at: input, distinction)
      guard let other = names.planned(for: source), let claimed = names.claimed(for: source) else { continue }
      let key = OutputNames.key(other)
      // Names now claimed by another input are left: that input replaces the files.
      guard !known.contains(key), let entry = index.peek(key), entry.source == list.absolutePath(at: input),
        !claimed.contains(where: { plan.claims.isAnothers($0, than: input) })
      else { continue }
      known.append(key)
    }
    if known.count > 1 { keys[input] = Array(known.dropFirst()) }
  }

  /// The earlier thumbnails of an input whose files still have the recorded length.
  private func outputs(of input: Int) -> [RawPath] {
    (keys[input] ?? []).compactMap(index.peek).flatMap(\.outputs).filter { thumbnail in
      let state = try? FileState(of: output.appending(thumbnail.path.bytes), followingLinks: false)
      return state?.kind == .regular && state?.byteCount == thumbnail.byteCount
    }.map(\.path)
  }

  /// Removes the earlier thumbnails, after the new ones were written. Returns those that existed; in a dry run nothing
  /// is removed.
  func remove(of input: Int) -> [RawPath] {
    guard let keys = keys[input] else { return [] }
    let outputs = outputs(of: input)
    guard let folder else { return outputs }
    for path in outputs { folder.remove(path.bytes) }
    for key in keys { index.remove(key) }
    return outputs
  }
}
