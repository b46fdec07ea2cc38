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

  /// Converts an input. Nil if it was cancelled before anything was written. Blocks.
  ///
  /// - Parameter mayWrite: Asked before anything is written.
  func convert(_ input: StaleInput, _ cancellation: CancellationFlag, mayWrite: () -> Bool) -> Outcome? {
    let started = ContinuousClock.now
    let path = plan.list.absolutePath(at: input.index)
    func failed(_ failure: ConversionFailure, endsRun: ConversionError? = nil) -> Outcome {
      let result = plan.result(of: input.index, .failed, failure: failure, duration: .now - started)
      return Outcome(result: result, endsRun: endsRun)
    }
    var input = input
    // A file that changes while it is read is tried a second time: its writer has probably finished by then.
    for isLastAttempt in [false, true] {
      guard let made = makeAndWrite(input, cancellation, mayWrite) else { return nil }
      switch made.written {
      case .notMade(let error) where error.code == ConversionFailure.video:
        return Outcome(
          result: plan.result(
            of: input.index, .skipped, failure: ConversionFailure(error), duration: .now - started))
      case .notMade(let error):
        if !isLastAttempt, let state = try? plan.list.state(at: input.index), state != input.state {
          input.state = state
          continue
        }
        if error.isOfSource {
          session.noteFailure(of: path, input.state)
          recordFailure(of: input)
        }
        return failed(ConversionFailure(error))
      case .outputs(let outputs):
        return Outcome(
          result: plan.result(
            of: input.index, .converted, outputs: outputs, plan: made.plan, preview: made.preview,
            duration: .now - started))
      case .changed(let state) where !isLastAttempt:
        input.state = state
      case .changed:
        return failed(
          ConversionFailure(
            stage: .read, code: "changed",
            message: "the file changed while it was read; run again when it is complete"))
      case .failed(let failure, let endsRun):
        session.noteFailedWrite()
        return failed(failure, endsRun: endsRun)
      }
    }
    return nil
  }

  /// Removes a thumbnail if it is still as it was written.
  func remove(_ output: RawPath, of source: RawPath) -> OutputFolder.Removal {
    switch destination {
    case .folder(let folder): folder.remove(output.bytes, of: source, isInput: plan.isInput)
    case .desktop(let desktop): desktop.remove(output) ? .removed : .failed
    }
  }

  /// Records for later runs that a picture cannot be shown.
  private func recordFailure(of input: StaleInput) {
    guard case .desktop(let desktop) = destination,
      let picture = DesktopPicture(plan.list.path(at: input.index), state: input.state)
    else { return }
    desktop.noteFailure(of: picture)
  }

  /// What has become of an input, its plan, and the preview that was used.
  private typealias Made = (written: Written, plan: String?, preview: UsedPreview?)

  /// Makes the thumbnails and writes them. Nil if it was cancelled before anything was written.
  private func makeAndWrite(
    _ input: StaleInput, _ cancellation: CancellationFlag, _ mayWrite: () -> Bool
  ) -> Made? {
    let path = plan.list.absolutePath(at: input.index)
    let source = ImageSource.file(at: path, in: input.state) { [plan] () throws(SystemFailure) in
      let opened = try plan.list.open(at: input.index)
      // Another file has its name: looked at anew.
      if opened.state != input.state { throw SystemFailure(code: ESTALE) }
      return opened
    }
    do throws(ThumbnailError) {
      let (results, plan) = try pipeline.thumbnails(variants, ofFile: source, cancellation: cancellation)
      let thumbnails = try results.map { (result) throws(ThumbnailError) in try result.get() }
      if !mayWrite() { return nil }
      return (write(thumbnails, of: input), plan, thumbnails.lazy.compactMap(\.source.preview).first)
    } catch {
      return cancellation.isSet ? nil : (.notMade(error), nil, nil)
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
