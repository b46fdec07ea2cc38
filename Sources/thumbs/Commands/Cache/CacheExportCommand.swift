import ThumbnailCache
import ThumbnailCore
import ArgumentParser
import Exports
import Foundation
import Thumbnailer

/// `thumbs cache export`.
struct CacheExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Copies thumbnails from the disk cache into files.",
    usage: "thumbs cache export <DIR> [<URL|QUERY> ...] [<options>]",
    discussion: """
      Examples:
        thumbs cache export thumbnails
        thumbs cache export thumbnails lake --name '{name}-{width}.{ext}'
        thumbs cache export thumbnails https://example.org/a.jpg --overwrite

      A URL or the path of a file exports the thumbnails of that picture; words
      those of the pictures whose addresses contain them all. {path} is the host
      with the folders of the URL, or the last folder of a file. If two thumbnails
      would have one name, the second gets a mark of its own. Existing files are
      kept, unless --overwrite is given.

      --json prints an object a line: location, path, status (written, unchanged,
      kept or failed), width, height, format, bytes; and a summary as the last. kept
      is an existing file with other content.
      """)

  @Argument(help: ArgumentHelp("The folder for the files.", valueName: "DIR"), completion: .directory)
  var folder: String

  @OptionGroup var pictures: CacheSelectionArgument

  @Option(
    "TEMPLATE",
    "The files' names, of {path}, {name}, {ext}, {oldext}, {size} as requested, {width}, {height} and {hash}. "
      + "(default: {path}/{name}-{size}.{ext})")
  var name: NamingTemplate?

  @Flag(help: "Replace existing files.") var overwrite = false

  @OptionGroup var cache: CacheOptions
  @Flag(help: "Print one JSON object a line.") var json = false

  func validate() throws {
    if folder.isEmpty { throw ValidationError("the folder's name is empty: name a folder") }
    if name?.usesDate == true { throw ValidationError("the cache knows no dates: leave {date} out of --name") }
  }

  /// The outcome for a thumbnail.
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
    var outcomes: [Status: Int] = [:]
    /// The bytes of the files that were written.
    var bytes = 0
    /// A failure that ends the run, since all later writes would fail as well.
    var ending: ExportError?

    subscript(status: Status) -> Int { outcomes[status, default: 0] }
  }

  /// Runs to the end, or to Ctrl-C.
  func run() async throws {
    let (console, interruption) = (Console.standard, Interruption())
    let (selection, disk) = (try pictures.selection(), try cache.open())
    let counts: Counts
    do {
      // With several sizes, because the cache may hold several thumbnails of an image.
      let originals = overwrite ? try originals(in: disk) : []
      let export = try ThumbnailExport(folder: folder, name: name, sizeCount: 2, overwrites: overwrite) {
        originals.contains($0.id)
      }
      counts = try await interruption.cancelling { try await copy(selection, from: disk, to: export) }
      try console.print(json ? figures(counts).summaryLine : summary(counts))
    } catch let error as Console.WriteError {
      throw CommandFailure(error, keeping: "what was exported is kept")
    } catch let error as ExportError {
      throw CommandFailure(error)
    }
    if let failure = counts.ending { console.complain("\(failure)") }
    if let signal = interruption.signal {
      console.complain(Interruption.message)
      throw ExitCode.stopped(by: signal)
    }
    if counts[.kept] > 0 { console.complain(PrefetchFiles.message(aboutKept: counts[.kept], in: folder)) }
    if counts.ending != nil { throw ExitCode.cannotWrite }
    if counts[.failed] + counts[.kept] > 0 { throw ExitCode.someFailed }
  }

  /// The pictures themselves, which are not replaced.
  private func originals(in disk: DiskCache?) throws -> Set<FileState.ID> {
    var (originals, pictures) = (Set<FileState.ID>(), try disk?.pictures(.all))
    while let picture = try pictures?.next() {
      if picture.host.isEmpty, let url = URL(string: picture.location), url.isFileURL,
        let file = try? FileState(of: RawPath(fileURL: url))
      {
        originals.insert(file.id)
      }
    }
    return originals
  }

  private func copy(
    _ selection: CacheSelection, from disk: DiskCache?, to export: ThumbnailExport
  ) async throws -> Counts {
    var counts = Counts()
    guard let disk else { return counts }
    var pictures = try disk.pictures(selection)
    while let picture = try pictures.next() {
      for thumbnail in picture.thumbnails {
        if Task.isCancelled { return counts }
        var (status, path): (Status, String?) = (.failed, nil)
        do throws(ExportError) {
          (status, path) = try await copy(thumbnail, of: picture, from: disk, to: export)
        } catch {
          if error.endsRun {
            counts.ending = error
            return counts
          }
          Console.standard.complain("\(error)")
        }
        counts.outcomes[status, default: 0] += 1
        if status == .written { counts.bytes += thumbnail.bytes }
        if json { try Console.standard.printSoon(object(thumbnail, of: picture, path, status).line) }
      }
    }
    return counts
  }

  private func copy(
    _ thumbnail: StoredThumbnail, of picture: StoredPicture, from disk: DiskCache, to export: ThumbnailExport
  ) async throws(ExportError) -> (Status, path: String?) {
    guard let contents = try? disk.contents(of: thumbnail, picture) else {
      Console.standard.complain(
        "a thumbnail of \(picture.location) is damaged or gone; 'thumbs cache verify' removes damaged thumbnails")
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

  private func object(
    _ thumbnail: StoredThumbnail, of picture: StoredPicture, _ path: String?, _ status: Status
  ) -> JSONObject {
    [
      "location": picture.location, "path": path, "status": status.rawValue, "width": thumbnail.size.width,
      "height": thumbnail.size.height, "format": thumbnail.format.rawValue, "bytes": thumbnail.bytes,
    ]
  }

  private func figures(_ counts: Counts) -> JSONObject {
    [
      "written": counts[.written], "unchanged": counts[.unchanged], "kept": counts[.kept],
      "failed": counts[.failed], "bytes": counts.bytes,
    ]
  }

  private func summary(_ counts: Counts) -> String {
    "\(counts[.written].of("thumbnail")), \(ByteSize(bytes: counts.bytes)), written to \(folder); "
      + "\(counts[.unchanged] + counts[.kept]) were there, \(counts[.failed]) failed"
  }
}

extension StoredPicture {
  /// The origin of a thumbnail's file name. Thumbnails of one image with different variants get different names.
  fileprivate func name(of thumbnail: StoredThumbnail) -> PictureName {
    let identity = "\(key.hex) \(thumbnail.variant?.token ?? "\(thumbnail.size)")"
    return URL(string: location).map { PictureName($0, identity: identity) } ?? PictureName("", identity: identity)
  }
}
