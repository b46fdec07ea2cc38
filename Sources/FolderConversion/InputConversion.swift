import Exports
import Foundation
import ThumbnailCore
import Thumbnailer

/// Makes the thumbnails of one input: all its sizes from one decode, written together or not at all.
final class InputConversion: Sendable {
  private let plan: ConversionPlan
  private let variants: [Variant]
  let pipeline: ThumbnailPipeline
  private let claims: ClaimedNames
  private let destination: Destination
  private let session: ConversionSession

  /// Nil in a dry run.
  init?(_ plan: ConversionPlan, _ session: ConversionSession) {
    guard let pipeline = session.pipeline,
      let destination = session.folder.map(Destination.folder) ?? plan.options.desktop.map({ .desktop($0) })
    else { return nil }
    (self.plan, self.pipeline, self.destination) = (plan, pipeline, destination)
    self.session = session
    variants = plan.options.variants
    // Only with `OutputFormat.same` can a thumbnail's name differ from the planned one.
    claims = ClaimedNames(plan.options.format == .same ? plan.claims.holders : [:])
  }

  /// Where the thumbnails go.
  enum Destination: Sendable {
    case folder(OutputFolder)
    case desktop(DesktopFolder)
  }

  /// The result of an input, and whether all later inputs would fail for the same reason.
  struct Outcome: Sendable {
    let result: ConversionResult
    var endsRun: ConversionError?
  }

  /// What has become of an input that was decoded.
  enum Finished {
    case outcome(Outcome)
    /// The file has changed while it was read. It is tried a second time: its writer has probably finished by then.
    case again(StaleInput)
  }

  /// Encodes and writes what an input was decoded to, once. Nil if it was cancelled before anything was written. Asks
  /// before it writes.
  typealias Finish = (_ mayWrite: () -> Bool) -> Finished?

  /// Decodes an input. Blocks.
  ///
  /// - Parameter meanwhile: What the thread does while it waits, if it has not done it already.
  func begin(_ input: StaleInput, _ cancellation: CancellationFlag, meanwhile: () -> Void) -> Finish {
    var decoding = Stopwatch()
    var encode: ThumbnailPipeline.FileEncoding? = decode(input, cancellation) { decoding.pause(meanwhile) }
    let decodingTime = decoding.time
    return { [self] mayWrite in
      let finishing = Stopwatch()
      guard let made = write(&encode, of: input, cancellation, mayWrite) else { return nil }
      if case .changed(let state) = made.written, !input.isSecondAttempt {
        var again = input
        (again.state, again.isSecondAttempt) = (state, true)
        return .again(again)
      }
      return .outcome(outcome(made, of: input, duration: decodingTime + finishing.time))
    }
  }

  private func outcome(_ made: Made, of input: StaleInput, duration: Duration) -> Outcome {
    func outcome(
      _ status: ConversionResult.Status, _ outputs: [ConversionOutput] = [], _ failure: ConversionFailure? = nil,
      endsRun: ConversionError? = nil
    ) -> Outcome {
      let result = plan.result(
        of: input.index, status, outputs: outputs, failure: failure, plan: made.plan, preview: made.preview,
        duration: duration)
      return Outcome(result: result, endsRun: endsRun)
    }
    switch made.written {
    case .notMade(let error) where error.code == ConversionFailure.video:
      return outcome(.skipped, [], ConversionFailure(error))
    case .notMade(let error):
      if error.isOfSource { noteFailure(of: input) }
      return outcome(.failed, [], ConversionFailure(error))
    case .outputs(let outputs): return outcome(.converted, outputs)
    case .changed:
      let message = "the file changed while it was read; run again when it is complete"
      return outcome(.failed, [], ConversionFailure(stage: .read, code: "changed", message: message))
    case .failed(let failure, let endsRun):
      session.noteFailedWrite()
      return outcome(.failed, [], failure, endsRun: endsRun)
    }
  }

  /// Removes a thumbnail if it is still as it was written.
  func remove(_ output: RawPath, of source: RawPath) -> OutputFolder.Removal {
    switch destination {
    case .folder(let folder): folder.remove(output.bytes, of: source, isInput: plan.isInput)
    case .desktop(let desktop): desktop.remove(output) ? .removed : .failed
    }
  }

  /// Records for later runs that a picture cannot be shown.
  private func noteFailure(of input: StaleInput) {
    session.noteFailure(of: plan.list.absolutePath(at: input.index), input.state)
    if case .desktop(let desktop) = destination,
      let picture = DesktopPicture(plan.list.path(at: input.index), state: input.state)
    {
      desktop.noteFailure(of: picture)
    }
  }

  /// What has become of an input, its plan, and the preview that was used.
  private typealias Made = (written: Written, plan: String?, preview: UsedPreview?)

  private func decode(
    _ input: StaleInput, _ cancellation: CancellationFlag, meanwhile: () -> Void
  ) -> ThumbnailPipeline.FileEncoding {
    let path = plan.list.absolutePath(at: input.index)
    let source = ImageSource.file(at: path, in: input.state) { [plan] () throws(SystemFailure) in
      let opened = try plan.list.open(at: input.index)
      // Another file has its name: looked at anew.
      if opened.state != input.state { throw SystemFailure(code: ESTALE) }
      return opened
    }
    return pipeline.decode(source, for: variants, cancellation: cancellation, meanwhile: meanwhile)
  }

  /// Encodes the thumbnails and writes them. Nil if it was cancelled before anything was written.
  private func write(
    _ encode: inout ThumbnailPipeline.FileEncoding?, of input: StaleInput, _ cancellation: CancellationFlag,
    _ mayWrite: () -> Bool
  ) -> Made? {
    do throws(ThumbnailError) {
      // It has the pixels and the open file, of which nothing is kept while the thumbnails are written.
      guard let (thumbnails, plan) = try encode.take()?(), mayWrite() else { return nil }
      return (write(thumbnails, of: input), plan, thumbnails.lazy.compactMap(\.source.preview).first)
    } catch {
      if cancellation.isSet { return nil }
      if error.code != ConversionFailure.video, let state = try? plan.list.state(at: input.index), state != input.state
      {
        return (.changed(state), nil, nil)
      }
      return (.notMade(error), nil, nil)
    }
  }

  private enum Written: Sendable {
    case notMade(ThumbnailError)
    case outputs([ConversionOutput])
    case changed(FileState)
    case failed(ConversionFailure, endsRun: ConversionError?)

    static func failed(_ error: WriteFailure, advice: String? = nil, endsRun: Bool? = nil) -> Written {
      let reason = error.failure.reason
      let advice = advice ?? SystemFailure.advice(reason, choose: "another output folder")
      let (code, text): (String, String) =
        switch (error.failure.code, error.owner) {
        case (EBUSY, _): ("in-the-way", "is one of the pictures, or in their folder; choose another output folder")
        case (EEXIST, let owner?): ("in-the-way", "is the thumbnail of \(owner); choose another output folder")
        case (EEXIST, nil):
          ("in-the-way", "is in the way, not as thumbs wrote it; move it, or choose another output folder")
        case (EISDIR, _): ("is-a-folder", "is a folder in the way; move it, or choose another output folder")
        default: ("cannot-write", "cannot be written: \(reason); \(advice)")
        }
      let failure = ConversionFailure(stage: .write, code: code, message: "\(error.path) \(text)")
      let ends = endsRun ?? error.failure.endsRun
      return .failed(failure, endsRun: ends ? .cannotWrite(path: error.path, reason: reason) : nil)
    }
  }

  /// Writes the thumbnails, unless the source has changed since they were made, and adds them to the index.
  private func write(_ thumbnails: [Thumbnail], of input: StaleInput) -> Written {
    do throws(SystemFailure) {
      let state = try plan.list.state(at: input.index)
      guard state == input.state else { return .changed(state) }
    } catch {
      return .failed(.unreadable(error), endsRun: nil)
    }
    switch destination {
    case .folder(let folder): return write(thumbnails, of: input, to: folder)
    case .desktop(let desktop):
      guard let picture = DesktopPicture(plan.list.path(at: input.index), state: input.state) else {
        return .notMade(.cancelled)
      }
      do throws(WriteFailure) {
        return .outputs(try desktop.write(thumbnails, of: picture, replacing: plan.options.freshness == .never))
      } catch {
        // All pictures have the same folders.
        return .failed(
          error, advice: "look at its rights and space",
          endsRun: error.failure.endsRun || [EACCES, EPERM, ENOTDIR].contains(error.failure.code))
      }
    }
  }

  private func write(_ thumbnails: [Thumbnail], of input: StaleInput, to folder: OutputFolder) -> Written {
    let path = plan.list.absolutePath(at: input.index)
    let paths = plan.names.paths(
      for: plan.list.source(at: input.index), planned: input.planned, written: thumbnails.map(\.format))
    for (path, planned) in zip(paths, input.planned) where path != planned {
      guard claims.claim(path, for: input.index) else { return .failed(.nameTaken(path), endsRun: nil) }
    }
    var outputs = zip(paths, thumbnails).map { path, thumbnail in
      var output = ConversionOutput(
        path: RawPath(bytes: path), size: thumbnail.size, format: thumbnail.format, byteCount: thumbnail.data.count)
      output.isDamaged = thumbnail.isDamaged
      return output
    }
    let isDamaged = thumbnails.contains(where: \.isDamaged)
    var files = thumbnails.map { OutputFolder.Content.data($0.data) }
    if paths.count > thumbnails.count, let copy = paths.last {
      do throws(SystemFailure) {
        files.append(.file(try plan.list.open(at: input.index).file, input.state))
      } catch {
        return .failed(.unreadable(error), endsRun: nil)
      }
      outputs.append(ConversionOutput(path: RawPath(bytes: copy), byteCount: input.state.byteCount))
    }
    let entry = IndexEntry(
      key: input.key, source: path, modified: input.state.modified,
      byteCount: input.state.byteCount, disk: plan.disk(of: input.index, input.state),
      token: plan.token(of: input.index, isDamaged: isDamaged), outputs: outputs,
      sourceSize: plan.options.site == nil ? nil : thumbnails.first?.source.size)
    do throws(WriteFailure) {
      let isOthers = { [plan] in plan.isOthers($0, than: path, input.state) }
      guard try folder.write(files, of: entry, isInput: plan.isInput, isOthers: isOthers) else {
        return (try? plan.list.state(at: input.index)).map { .changed($0) } ?? .failed(.unreadable(.last), endsRun: nil)
      }
    } catch {
      return .failed(error)
    }
    return .outputs(outputs)
  }
}

extension ThumbnailError {
  /// Whether the picture alone is the reason, and no limit, option or lack of the machine: it fails until it changes.
  fileprivate var isOfSource: Bool {
    switch self {
    case .notAPicture, .noPreview, .damaged: true
    default: false
    }
  }
}

extension ConversionFailure {
  /// The actual format differs from the source's extension, and the resulting name belongs to another input.
  fileprivate static func nameTaken(_ path: [UInt8]) -> ConversionFailure {
    .init(
      stage: .write, code: "name-taken",
      message: "its format is not that of its name, and \(RawPath(bytes: path)) is another's thumbnail; rename it")
  }
}
