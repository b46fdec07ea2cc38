// The module Exports: names files, writes them whole, and lays thumbnails out on sheets.

import CaptureDates
import Foundation
import Synchronization
package import ThumbnailCore

/// Writes thumbnails atomically as files into a folder, with names from a template.
///
/// An existing file is kept; one with the same bytes counts as unchanged, so an export can be repeated. Two images of the
/// same name get separate files: the second has a few digits appended, the same in every run.
package final class ThumbnailExport: Sendable {
  /// The outcome for one thumbnail.
  package enum Outcome: Sendable, Equatable {
    /// It was written.
    case written(path: String)
    /// The file existed already, with the same bytes.
    case unchanged(path: String)
    /// The file existed already with other bytes, and was kept.
    case kept(path: String)
  }

  /// The longest file name that file systems allow, in bytes.
  package static let longestName = 255

  /// The folder.
  package let folder: String
  private let root: RootFolder
  private let template: NamingTemplate
  /// The image that owns each name, both as digests: a million names take about 30 MB.
  private let owners = Mutex<[UInt64: UInt64]>([:])
  private let pool = WorkerPool(name: "thumbnailer.export", threads: 1)

  /// Creates the folder if it is missing.
  ///
  /// - Parameters:
  ///   - folder: The output folder.
  ///   - name: The naming template; nil keeps the folder tree of the source, and adds the size to the names if there
  ///     are several.
  ///   - sizeCount: The number of thumbnails of each image.
  /// - Throws: If the folder cannot be created or written to.
  package init(folder: String, name: NamingTemplate? = nil, sizeCount: Int) throws(FileWriteError) {
    self.folder = folder
    template = name ?? .standard(sizeCount: sizeCount)
    root = try RootFolder.writable(RawPath(folder))
  }

  /// Writes a thumbnail of `picture`, which was made for a box of `size`.
  ///
  /// - Throws: If it cannot be written; no partial file is left.
  package func add(
    _ thumbnail: Thumbnail, of picture: PictureName, size: PixelSize
  ) async throws(FileWriteError) -> Outcome {
    // Not cancelled with the caller's task: finished thumbnails are kept.
    try await pool.runToEnd { [self] in
      Result { () throws(FileWriteError) in
        try place(thumbnail.data, at: path(of: picture, size: size, format: thumbnail.format), of: picture)
      }
    }.get()
  }

  /// The path within the folder. If the template yields none for the image's name, its digest replaces the name.
  ///
  /// - Throws: If it contains the image's date and that is unknown.
  func path(of picture: PictureName, size: PixelSize, format: ImageFormat) throws(FileWriteError) -> [UInt8] {
    var source = picture.templateSource
    if template.usesDate {
      guard let file = picture.file, let date = try? DateReader.date(of: file).date else {
        throw FileWriteError(
          path: folder, reason: "{date} names pictures that are files; leave it out of --name for others")
      }
      source.date = date.day
    }
    let end = Array(format.fileExtension.utf8)
    let path =
      template.path(for: source, size: TargetSize(size), ext: end)
      ?? Array("\(NamingTemplate.hash(source.absolutePath))-\(size).\(format.fileExtension)".utf8)
    return Array(
      path.split(separator: RawPath.slash)
        .map { PictureName.shortened(Array($0), to: Self.longestName, mark: picture.mark) }
        .joined(separator: [RawPath.slash]))
  }

  private func place(
    _ data: Data, at planned: [UInt8], of picture: PictureName
  ) throws(FileWriteError) -> Outcome {
    let owner = NamingTemplate.seededHash(Array(picture.identity.utf8))
    let marked = Self.marked(planned, with: picture.mark)
    // If the marked file exists, another image had the name in an earlier run, too.
    let isMarked = isTaken(planned, by: owner) || root.state(of: marked) != nil
    let path = isMarked ? marked : planned
    owners.withLock { $0[NamingTemplate.seededHash(path)] = owner }
    do throws(SystemFailure) {
      return try write(data, to: RawPath(bytes: path), of: picture)
    } catch {
      throw FileWriteError(path: root.path.appending(path).description, error)
    }
  }

  private func isTaken(_ path: [UInt8], by owner: UInt64) -> Bool {
    owners.withLock { $0[NamingTemplate.seededHash(path)].map { $0 != owner } ?? false }
  }

  private func write(
    _ data: Data, to target: RawPath, of picture: PictureName
  ) throws(SystemFailure) -> Outcome {
    let shown = root.path.appending(target.bytes).description
    func holds() -> Bool { root.bytes(of: target.bytes, atMost: data.count) == Array(data) }
    if holds() { return .unchanged(path: shown) }
    let place = try root.folder(target.folder, making: 0o777)
    var file = try RootFolder.newFile(target.name, in: place)
    try file.write(data)
    let input = picture.file.flatMap { try? FileState(of: $0) }
    do throws(SystemFailure) {
      let isInput = { (there: FileState) in input?.mayBeSameFile(as: there) == true }
      let replaced = try root.replaced(target.bytes, by: file, isInput: isInput) { _ in false }
      if try file.commit(over: replaced) { return .written(path: shown) }
    } catch {
      guard [EEXIST, EISDIR, EBUSY].contains(error.code) else { throw error }
    }
    // A concurrent run of the same export may have written it first.
    return holds() ? .unchanged(path: shown) : .kept(path: shown)
  }

  /// The path with a mark appended to the name.
  static func marked(_ path: [UInt8], with mark: [UInt8]) -> [UInt8] {
    let (folder, name) = (RawPath(bytes: path).folder, RawPath(bytes: path).name)
    return Array(folder) + PictureName.marked(Array(name), to: longestName, mark: mark)
  }
}
