import Exports
import Foundation
import PhotoSources
import Synchronization
import ThumbnailCore
import Thumbnailer

/// The files that a prefetch writes in addition to the cache: its contact sheet and the exported thumbnails.
final class PrefetchFiles: Sendable {
  private let sheet: SheetFile?
  /// Its path, and what has it.
  private let replaced: (path: String, file: FileState)?
  private let export: ThumbnailExport?
  private let variants: [Variant]
  private let provider: any PhotoProvider
  /// The exported photos, whose use is reported to their provider at the end.
  private let exported = Mutex<[Photo]>([])
  private let state = Mutex(Counts())

  private struct Counts {
    /// The images on the sheet, and the failed ones among them.
    var (pictures, failed) = (0, 0)
    /// The outcomes of the exported thumbnails.
    var (written, unchanged, kept, unwritten) = (0, 0, 0, 0)
    /// The first of those kept.
    var names: [String] = []
  }

  /// Starts the requested files.
  ///
  /// - Throws: `FileWriteError` if one of them cannot be written.
  init(_ command: PrefetchCommand, provider: any PhotoProvider) throws {
    let (options, variants) = (command.look, command.thumbnails.variants())
    (self.variants, self.provider) = (variants, provider)
    export = try options.export.map { try ThumbnailExport(folder: $0, name: options.name, sizeCount: variants.count) }
    replaced = options.sheet.flatMap { path in (try? FileState(of: RawPath(path))).map { (path, $0) } }
    sheet = try options.sheet.map {
      try SheetFile(path: $0, title: command.source.title)
    }
  }

  /// Adds an image to the sheet, and its thumbnails to the folder.
  ///
  /// - Returns: The path of each of its thumbnails, nil if another file has the name, and none without an export; and the
  ///   error of its export, if later images are not affected.
  /// - Throws: `FileWriteError` if later images would fail, too.
  func add(_ outcome: PhotoOutcome) async throws -> (paths: [String?], failure: FileWriteError?) {
    if let replaced, outcome.source.isFile(replaced.file) {
      throw FileWriteError(path: replaced.path, reason: "it is one of the pictures")
    }
    if sheet != nil { try add(outcome.sheetCell) }
    guard let export else { return ([], nil) }
    let files: [ThumbnailExport.Outcome]
    do throws(FileWriteError) {
      files = try await export.add(outcome, variants: variants)
    } catch {
      if error.endsRun { throw error }
      state.withLock { $0.unwritten += 1 }
      return ([], error)
    }
    var (paths, isPutToUse): ([String?], Bool) = ([], false)
    state.withLock { state in
      for file in files {
        switch file {
        case .written(let path):
          state.written += 1
          isPutToUse = true
          paths.append(path)
        case .unchanged(let path):
          state.unchanged += 1
          paths.append(path)
        case .kept(let path):
          state.kept += 1
          if state.kept <= 20 { state.names.append(path) }
          paths.append(nil)
        }
      }
    }
    if isPutToUse, outcome.photo.downloadLocation != nil { exported.withLock { $0.append(outcome.photo) } }
    return (paths, nil)
  }

  /// Reports the exported photos to the provider, as its terms may require. One after the other, to keep the load low,
  /// and after the run, because its pages use the same rate limit.
  ///
  /// - Returns: The error, after which the remaining photos are not reported; nil if there was none.
  private func reportUse() async -> String? {
    let photos = exported.withLock { $0 }
    for (index, photo) in photos.enumerated() {
      do throws(ProviderError) {
        try await provider.reportUse(of: photo)
      } catch {
        let rest = photos.count - index
        return
          "the export of \(rest.of("photo")) could not be reported to \(provider.name), as its terms require: "
          + Advice.withOptions(error.message)
      }
    }
    return nil
  }

  /// Adds an unusable item to the sheet.
  func add(_ item: SkippedItem) throws {
    if sheet != nil { try add(SheetCell(name: item.place, failure: item.reason)) }
  }

  private func add(_ cell: SheetCell) throws {
    state.withLock { state in
      state.pictures += 1
      state.failed += cell.failure == nil ? 0 : 1
    }
    try sheet?.add(cell)
  }

  /// The final messages about the files.
  struct Closing {
    /// A line for the summary.
    var summary: String?
    /// Problems to print.
    var complaints: [String] = []
    /// The number of exported files; nil without an export.
    var exported: Int?
    /// Whether some thumbnails were not exported, because other files have their names or writing failed.
    var isIncomplete = false
  }

  /// Completes the sheet, unless a part of one, or one without pictures, would replace an earlier sheet.
  ///
  /// - Parameter isWhole: Whether nothing has ended the run early.
  func finish(isWhole: Bool) async throws -> Closing {
    var closing = Closing()
    closing.complaints += await reportUse().map { [$0] } ?? []
    let counts = state.withLock { $0 }
    if let replaced, replaced.file.kind == .regular, replaced.file.byteCount > 0,
      !isWhole || counts.pictures == counts.failed
    {
      closing.isIncomplete = true
      closing.complaints.append("\(replaced.path) stays as it was: this run has not made a whole sheet")
    } else {
      try sheet?.finish(pictures: counts.pictures, failed: counts.failed)
    }
    guard let export else { return closing }
    closing.exported = counts.written
    closing.summary =
      "exported \(counts.written.of("file")) to \(export.folder)"
      + (counts.unchanged > 0 ? ", \(counts.unchanged) unchanged" : "")
    closing.isIncomplete = counts.kept > 0 || counts.unwritten > 0
    if counts.kept > 0 { closing.complaints.append(Self.message(aboutKept: counts.kept, such: counts.names)) }
    return closing
  }

  /// The message about existing files that are not replaced.
  static func message(aboutKept count: Int, such names: [String]) -> String {
    let names = names.joined(separator: ", ") + (count > names.count ? ", …" : "")
    return "\(count.of("file")) with other content not replaced: \(names); move or remove it, or give another --export"
  }
}

extension ImageSource {
  /// Whether it is this file, which the user has named, by another mount, too.
  fileprivate func isFile(_ file: FileState) -> Bool {
    isUserFile && (try? FileState(of: RawPath(fileURL: url)).mayBeSameFile(as: file)) == true
  }
}
