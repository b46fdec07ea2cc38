import ArgumentParser
import Exports
import Foundation
import Thumbnailer

/// One run of `thumbs cache export`.
struct CacheExportRun: Sendable {
  private let disk: DiskCache?
  private let selection: CacheSelection
  private let printsJSON: Bool
  private let console: Console

  init(_ disk: DiskCache?, _ selection: CacheSelection, printsJSON: Bool, console: Console) {
    (self.disk, self.selection) = (disk, selection)
    (self.printsJSON, self.console) = (printsJSON, console)
  }

  private enum Status: String {
    /// The file was written.
    case written
    /// The file existed already, with the same bytes.
    case unchanged
    /// The file existed already with other bytes, and was kept.
    case kept
    case failed
  }

  /// The counts so far.
  private struct Counts {
    var written = 0
    var unchanged = 0
    var kept = 0
    var failed = 0
    var bytes = 0
    /// A failure that ends the run, since all later writes would fail as well.
    var ending: ExportError?

    mutating func add(_ status: Status, bytes: Int) {
      switch status {
      case .written:
        written += 1
        self.bytes += bytes
      case .unchanged: unchanged += 1
      case .kept: kept += 1
      case .failed: failed += 1
      }
    }
  }

  /// Runs to the end, or to Ctrl-C, and returns the exit status.
  func run(into path: String, name: NamingTemplate?, overwriting: Bool) async throws -> ExitCode {
    let export: ThumbnailExport
    do throws(ExportError) {
      // With several sizes, since the cache may hold several thumbnails of an image.
      export = try ThumbnailExport(folder: path, name: name, sizeCount: 2, overwrites: overwriting)
    } catch {
      console.complain(error.message)
      return .cannotWrite
    }
    let interruption = Interruption()
    do {
      let counts = try await interruption.cancelling { try await copy(to: export) }
      try console.print(summary(counts, path))
      if let failure = counts.ending { console.complain("\(failure)") }
      if let signal = interruption.signal {
        console.complain("stopped; what is done is kept, and the same command does the rest")
        return .stopped(by: signal)
      }
      if counts.kept > 0 {
        let subject = counts.kept == 1 ? "1 file is" : "\(counts.kept) files are"
        console.complain(
          "in \(path) \(subject) there already with other content and left so; give --overwrite, or another --name")
      }
      return counts.ending != nil ? .cannotWrite : counts.failed + counts.kept > 0 ? .someFailed : .success
    } catch let error as Console.WriteError {
      return console.cannotPrint(error, "what was exported is kept")
    }
  }

  private func copy(to export: ThumbnailExport) async throws -> Counts {
    var counts = Counts()
    guard let disk else { return counts }
    var pictures = try console.usingCache { () throws(DiskCacheError) in try disk.pictures(selection) }
    while let picture = try console.usingCache({ () throws(DiskCacheError) in try pictures.next() }) {
      for thumbnail in picture.thumbnails {
        if Task.isCancelled { return counts }
        var place: String?
        let status: Status
        do throws(ExportError) {
          (status, place) = try await copy(thumbnail, of: picture, from: disk, to: export)
        } catch {
          if error.endsRun {
            counts.ending = error
            return counts
          }
          console.complain("\(error)")
          status = .failed
        }
        counts.add(status, bytes: thumbnail.bytes)
        if printsJSON { try console.printSoon(line(thumbnail, of: picture, place, status)) }
      }
    }
    return counts
  }

  private func copy(
    _ thumbnail: StoredThumbnail, of picture: StoredPicture, from disk: DiskCache, to export: ThumbnailExport
  ) async throws(ExportError) -> (Status, path: String?) {
    guard let contents = try? disk.contents(of: thumbnail, picture) else {
      console.complain(
        "a thumbnail of \(picture.location) is damaged or gone; 'thumbs cache verify' drops what is damaged")
      return (.failed, nil)
    }
    switch try await export.add(
      contents, of: picture.name(of: thumbnail), size: thumbnail.variant?.size ?? thumbnail.size)
    {
    case .written(let path): return (.written, path)
    case .unchanged(let path): return (.unchanged, path)
    case .kept(let path): return (.kept, path)
    }
  }

  private func line(_ thumbnail: StoredThumbnail, of picture: StoredPicture, _ path: String?, _ status: Status)
    -> String
  {
    var object = JSONObject()
    object.add("location", picture.location)
    if let path { object.add("path", path) }
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
        + "\(counts.unchanged + counts.kept) were there, \(counts.failed) failed"
    }
    var object = JSONObject()
    object.add("written", counts.written)
    object.add("unchanged", counts.unchanged)
    object.add("kept", counts.kept)
    object.add("failed", counts.failed)
    object.add("bytes", counts.bytes)
    var line = JSONObject()
    line.add("summary", object)
    return line.line
  }
}

extension StoredPicture {
  /// The origin of a thumbnail's file name. Thumbnails of one image with different variants get different names.
  fileprivate func name(of thumbnail: StoredThumbnail) -> PictureName {
    let identity = "\(key.hex) \(thumbnail.variant?.token ?? "\(thumbnail.size)")"
    return URL(string: location).map { PictureName($0, identity: identity) } ?? PictureName("", identity: identity)
  }
}
