import ArgumentParser
import Exports
import Foundation
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// One run of `thumbs cache export`.
struct CacheExportRun: Sendable {
  let selection: CacheSelection
  /// The cache; nil if there is none.
  let disk: DiskCache?
  let printsJSON: Bool
  private let console = Console.standard

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
    private var outcomes: [Status: Int] = [:]
    /// The bytes of the files that were written.
    var bytes = 0
    /// A failure that ends the run, since all later writes would fail as well.
    var ending: ExportError?

    mutating func add(_ status: Status, bytes: Int) {
      outcomes[status, default: 0] += 1
      if status == .written { self.bytes += bytes }
    }

    subscript(status: Status) -> Int { outcomes[status, default: 0] }
  }

  /// Runs to the end, or to Ctrl-C, and returns the exit status.
  func run(into path: String, name: NamingTemplate?, overwriting: Bool) async throws -> ExitCode {
    // With several sizes, since the cache may hold several thumbnails of an image.
    let export: ThumbnailExport
    do throws(ExportError) {
      export = try ThumbnailExport(folder: path, name: name, sizeCount: 2, overwrites: overwriting)
    } catch {
      throw CommandFailure(error)
    }
    let interruption = Interruption()
    let counts: Counts
    do {
      counts = try await interruption.cancelling { try await copy(to: export) }
      try console.print(summary(counts, path))
    } catch let error as Console.WriteError {
      throw CommandFailure(error, keeping: "what was exported is kept")
    }
    if let failure = counts.ending { console.complain("\(failure)") }
    if let signal = interruption.signal {
      console.complain(Interruption.message)
      return .stopped(by: signal)
    }
    if counts[.kept] > 0 { console.complain(PrefetchFiles.message(aboutKept: counts[.kept], in: path)) }
    return counts.ending != nil ? .cannotWrite : counts[.failed] + counts[.kept] > 0 ? .someFailed : .success
  }

  private func copy(to export: ThumbnailExport) async throws -> Counts {
    var counts = Counts()
    guard let disk else { return counts }
    var pictures = try disk.pictures(selection)
    while let picture = try pictures.next() {
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
    let object: JSONObject = [
      "location": picture.location,
      "path": path,
      "status": status.rawValue,
      "width": thumbnail.size.width,
      "height": thumbnail.size.height,
      "format": thumbnail.format.rawValue,
      "bytes": thumbnail.bytes,
    ]
    return object.line
  }

  private func summary(_ counts: Counts, _ path: String) -> String {
    guard printsJSON else {
      return "\(counts[.written]) thumbnails, \(ByteSize(bytes: counts.bytes)), written to \(path); "
        + "\(counts[.unchanged] + counts[.kept]) were there, \(counts[.failed]) failed"
    }
    let figures: JSONObject = [
      "written": counts[.written],
      "unchanged": counts[.unchanged],
      "kept": counts[.kept],
      "failed": counts[.failed],
      "bytes": counts.bytes,
    ]
    return figures.summaryLine
  }
}

extension StoredPicture {
  /// The origin of a thumbnail's file name. Thumbnails of one image with different variants get different names.
  fileprivate func name(of thumbnail: StoredThumbnail) -> PictureName {
    let identity = "\(key.hex) \(thumbnail.variant?.token ?? "\(thumbnail.size)")"
    return URL(string: location).map { PictureName($0, identity: identity) } ?? PictureName("", identity: identity)
  }
}
