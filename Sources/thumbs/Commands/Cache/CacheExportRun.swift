import ArgumentParser
import Thumbnailer

/// One run of `thumbs cache export`.
struct CacheExportRun: Sendable {
  private let disk: DiskCache?
  private let selection: CacheSelection
  private let names: ExportNames
  private let printsJSON: Bool
  private let console: Console

  init(
    _ disk: DiskCache?, _ selection: CacheSelection, names: ExportNames, printsJSON: Bool, console: Console
  ) {
    (self.disk, self.selection, self.names) = (disk, selection, names)
    (self.printsJSON, self.console) = (printsJSON, console)
  }

  private enum Status: String {
    case written, skipped, failed
  }

  /// What was done so far.
  private struct Counts {
    var written = 0
    var skipped = 0
    var failed = 0
    var bytes = 0
    /// The failure that the others would have shared.
    var ending: ExportFailure?

    mutating func add(_ status: Status, bytes: Int) {
      switch status {
      case .written:
        written += 1
        self.bytes += bytes
      case .skipped: skipped += 1
      case .failed: failed += 1
      }
    }
  }

  /// Runs to the end, or to Ctrl-C, and returns the exit status.
  func run(into path: String, overwriting: Bool) async throws -> ExitCode {
    let folder: ExportFolder
    do throws(ConversionError) {
      folder = try ExportFolder(RawPath(path), replacesFiles: overwriting)
    } catch {
      console.complain(error.message)
      return .cannotWrite
    }
    let interruption = Interruption()
    do {
      let counts = try await interruption.cancelling { try export(into: folder) }
      try console.print(summary(counts, path))
      if let failure = counts.ending { console.complain("\(failure)") }
      if let signal = interruption.signal {
        console.complain("stopped; what is done is kept, and the same command does the rest")
        return .stopped(by: signal)
      }
      return counts.ending != nil ? .cannotWrite : counts.failed > 0 ? .someFailed : .success
    } catch let error as Console.WriteError {
      return console.cannotPrint(error, "what was exported is kept")
    }
  }

  private func export(into folder: ExportFolder) throws -> Counts {
    var counts = Counts()
    guard let disk else { return counts }
    var names = names
    var pictures = try console.usingCache { () throws(DiskCacheError) in try disk.pictures(selection) }
    while let picture = try console.usingCache({ () throws(DiskCacheError) in try pictures.next() }) {
      for thumbnail in picture.thumbnails {
        if Task.isCancelled { return counts }
        let path = names.path(
          location: picture.location, picture: picture.key, variant: thumbnail.variant, size: thumbnail.size,
          format: thumbnail.format)
        let status: Status
        do throws(ExportFailure) {
          status = try export(thumbnail, of: picture, from: disk, to: path, in: folder)
        } catch {
          if error.endsRun {
            counts.ending = error
            return counts
          }
          console.complain("\(error)")
          status = .failed
        }
        counts.add(status, bytes: thumbnail.bytes)
        if printsJSON { try console.printSoon(line(thumbnail, of: picture, path, status)) }
      }
    }
    return counts
  }

  private func export(
    _ thumbnail: StoredThumbnail, of picture: StoredPicture, from disk: DiskCache, to path: RawPath,
    in folder: ExportFolder
  ) throws(ExportFailure) -> Status {
    if folder.keeps(path) { return .skipped }
    guard let contents = try? disk.contents(of: thumbnail, picture) else {
      console.complain(
        "a thumbnail of \(picture.location) is damaged or gone; 'thumbs cache verify' drops what is damaged")
      return .failed
    }
    switch try folder.write(contents.data, to: path) {
    case .written: return .written
    case .exists: return .skipped
    }
  }

  private func line(_ thumbnail: StoredThumbnail, of picture: StoredPicture, _ path: RawPath, _ status: Status)
    -> String
  {
    var object = JSONObject()
    object.add("location", picture.location)
    object.add("path", path.description)
    object.add("status", status.rawValue)
    object.add("width", thumbnail.size.width)
    object.add("height", thumbnail.size.height)
    object.add("format", thumbnail.format.rawValue)
    object.add("bytes", thumbnail.bytes)
    return object.line
  }

  private func summary(_ counts: Counts, _ path: String) -> String {
    guard printsJSON else {
      return "\(counts.written) thumbnails, \(ByteSize(bytes: counts.bytes)), written to \(path); "
        + "\(counts.skipped) were there, \(counts.failed) failed"
    }
    var object = JSONObject()
    object.add("written", counts.written)
    object.add("skipped", counts.skipped)
    object.add("failed", counts.failed)
    object.add("bytes", counts.bytes)
    var line = JSONObject()
    line.add("summary", object)
    return line.line
  }
}
