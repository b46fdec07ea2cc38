import Exports
import Foundation
import ThumbnailCore
import Thumbnailer

/// Makes the thumbnails of one input: all its sizes from one decode, written together or not at all.
struct InputConversion: Sendable {
  let pipeline: ThumbnailPipeline
  let list: InputList
  let variants: [Variant]
  let names: OutputNames
  let claims: ClaimedNames
  let folder: OutputFolder
  let earlier: EarlierOutputs
  let pool: WorkerPool
  let token: String
  let preservesTimes: Bool

  /// The result of an input, and whether all later inputs would fail for the same reason.
  struct Outcome: Sendable {
    let result: ConversionResult
    var endsRun: ConversionError?
  }

  /// Converts an input. Nil if the task was cancelled before anything was written.
  func convert(_ input: StaleInput) async -> Outcome? {
    let started = ContinuousClock.now
    var input = input
    // A file that changes while it is read is tried a second time: its writer has probably finished by then.
    for isLastAttempt in [false, true] {
      let responses = await pipeline.responses(for: .file(at: input.absolutePath), variants: variants)
      let thumbnails: [Thumbnail]
      switch collect(responses) {
      case .success(let made): thumbnails = made
      case .failure(.cancelled): return nil
      case .failure(let error):
        if !isLastAttempt, let state = try? FileState(of: input.absolutePath), state != input.state {
          input.state = state
          continue
        }
        return Outcome(result: failed(input, ConversionFailure(error), since: started))
      }
      let written = try? await pool.run(priority: PriorityControl(.visible)) { [input] _ in
        Result<Written, Never>.success(write(thumbnails, of: input))
      }
      switch written?.get() {
      case nil: return nil
      case .outputs(let outputs, let replaced):
        let result = ConversionResult(
          index: input.index, source: input.path, status: .converted, outputs: outputs, failure: nil,
          plan: responses.lazy.compactMap { try? $0.get().plan }.first, duration: .now - started,
          isToldApart: input.isToldApart, replaced: replaced)
        return Outcome(result: result)
      case .changed(let state) where !isLastAttempt:
        input.state = state
      case .changed:
        let failure = ConversionFailure(
          stage: .read, code: "changed", message: "the file changed while it was read; run again when it is complete")
        return Outcome(result: failed(input, failure, since: started))
      case .failed(let failure, let endsRun):
        return Outcome(result: failed(input, failure, since: started), endsRun: endsRun)
      }
    }
    return nil
  }

  /// All thumbnails, or the error of one that failed.
  private func collect(
    _ responses: [Result<ThumbnailResponse, ThumbnailError>]
  ) -> Result<[Thumbnail], ThumbnailError> {
    Result { () throws(ThumbnailError) in
      var thumbnails: [Thumbnail] = []
      for response in responses { thumbnails.append(try response.get().thumbnail) }
      return thumbnails
    }
  }

  private func failed(
    _ input: StaleInput, _ failure: ConversionFailure, since started: ContinuousClock.Instant
  ) -> ConversionResult {
    ConversionResult(
      index: input.index, source: input.path, status: .failed, outputs: [], failure: failure, plan: nil,
      duration: .now - started)
  }

  private enum Written: Sendable {
    case outputs([ConversionOutput], replaced: [RawPath])
    case changed(FileState)
    case failed(ConversionFailure, endsRun: ConversionError?)
  }

  /// Writes the thumbnails, unless the source has changed since they were made, and adds them to the index.
  private func write(_ thumbnails: [Thumbnail], of input: StaleInput) -> Written {
    do throws(SystemFailure) {
      let state = try FileState(of: input.absolutePath)
      guard state == input.state else { return .changed(state) }
    } catch {
      return .failed(.unreadable(error), endsRun: nil)
    }
    let paths = names.paths(
      for: list.source(at: input.index), planned: input.planned, written: thumbnails.map(\.format))
    for (path, planned) in zip(paths, input.planned) where path != planned {
      guard claims.claim(path, for: input.index) else { return .failed(.nameTaken(path), endsRun: nil) }
    }
    let outputs = zip(paths, thumbnails).map { path, thumbnail in
      var output = ConversionOutput(
        path: RawPath(bytes: path), size: thumbnail.size, format: thumbnail.format, byteCount: thumbnail.data.count)
      output.isDamaged = thumbnail.isDamaged
      return output
    }
    let isDamaged = thumbnails.contains(where: \.isDamaged)
    do throws(WriteFailure) {
      try folder.write(
        zip(outputs, thumbnails).map { ($0.path.bytes, $1.data) }, times: preservesTimes ? input.state : nil)
    } catch {
      let reason = error.failure.reason
      let failure = ConversionFailure(
        stage: .write, code: error.failure.code == EISDIR ? "is-a-folder" : "cannot-write",
        message: "\(error.path) cannot be written: \(reason); make room for it, or choose another output folder")
      return .failed(failure, endsRun: error.failure.endsRun ? .cannotWrite(path: error.path, reason: reason) : nil)
    }
    folder.conversions.add(
      IndexEntry(
        key: OutputNames.key(input.planned), source: input.absolutePath, modified: input.state.modified,
        byteCount: input.state.byteCount,
        token: token + (isDamaged ? InputCheck.damageMark : "") + (input.isToldApart ? IndexEntry.toldApart : ""),
        outputs: outputs))
    return .outputs(outputs, replaced: earlier.giveWay(of: input.index))
  }
}

extension ConversionFailure {
  /// The actual format differs from the one that the source's extension suggests, and that name is another input's.
  fileprivate static func nameTaken(_ path: [UInt8]) -> ConversionFailure {
    .init(
      stage: .write, code: "name-taken",
      message: "the picture is not what its name says, and \(RawPath(bytes: path)) is another's thumbnail; rename it")
  }
}
