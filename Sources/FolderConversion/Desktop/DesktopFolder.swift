import Foundation
import ThumbnailCore
import Thumbnailer

/// The folder of the thumbnails that all programs of a desktop share: `thumbnails` in the user's cache folder.
///
/// Thumbnails and folders are readable for their owner only, and written whole. The methods block.
struct DesktopFolder: Sendable {
  let path: RawPath
  static let software = "Thumbnailer \(ThumbnailPipeline.version)"
  private static let permissions: mode_t = 0o600
  private static let folderPermissions: mode_t = 0o700

  /// The path of a picture's thumbnail, relative to the folder.
  private static func file(_ folder: String, _ name: String) -> [UInt8] { Array("\(folder)/\(name)".utf8) }

  /// The folder of the records of failures.
  private static let failures = "fail/thumbs-\(ThumbnailPipeline.version)"

  /// The thumbnails of a picture if all are current, here or beside the picture, of any program.
  func current(_ picture: DesktopPicture) -> [ConversionOutput]? {
    let areThere = DesktopPicture.sizes.allSatisfy { isThere(picture, $0.folder) || isShared(picture, $0.folder) }
    return areThere ? outputs(of: picture, format: .png) : nil
  }

  private func isThere(_ picture: DesktopPicture, _ folder: String) -> Bool {
    PNGTexts.read(path.appending(Self.file(folder, picture.name))).map { picture.isShown(by: $0) } ?? false
  }

  /// The thumbnails that a picture would get.
  func outputs(of picture: DesktopPicture, format: ImageFormat? = nil) -> [ConversionOutput] {
    DesktopPicture.sizes.map {
      ConversionOutput(path: RawPath(bytes: Self.file($0.folder, picture.name)), format: format)
    }
  }

  private func isShared(_ picture: DesktopPicture, _ folder: String) -> Bool {
    let name = DesktopPicture.name(of: picture.sharedURI)
    let texts = PNGTexts.read(picture.sharedFolder.appending(Self.file(folder, name)))
    return texts.map { picture.isShown(by: $0, uri: picture.sharedURI) } ?? false
  }

  /// Whether this version has failed to make thumbnails of the picture as it is now.
  func hasFailed(_ picture: DesktopPicture) -> Bool { isThere(picture, Self.failures) }

  /// Writes the thumbnails of a picture, in the order of `DesktopPicture.sizes`.
  ///
  /// - Parameter replacing: Whether thumbnails that are current are replaced.
  func write(
    _ thumbnails: [Thumbnail], of picture: DesktopPicture, replacing: Bool
  ) throws(WriteFailure) -> [ConversionOutput] {
    var outputs: [ConversionOutput] = []
    for (size, thumbnail) in zip(DesktopPicture.sizes, thumbnails) {
      let file = Self.file(size.folder, picture.name)
      if !replacing, isThere(picture, size.folder) {
        outputs.append(ConversionOutput(path: RawPath(bytes: file), format: .png))
        continue
      }
      let data = picture.thumbnail(thumbnail.data, thumbnail.source)
      try write(data, to: file)
      outputs.append(
        ConversionOutput(path: RawPath(bytes: file), size: thumbnail.size, format: .png, byteCount: data.count))
    }
    remove(RawPath(bytes: Self.file(Self.failures, picture.name)))
    return outputs
  }

  /// Records that the picture cannot be shown, so that nobody tries again until it has changed.
  func noteFailure(of picture: DesktopPicture) {
    let data = picture.thumbnail(PNGTexts.onePixel, nil)
    // Without the record, a later run tries in vain.
    try? write(data, to: Self.file(Self.failures, picture.name))
  }

  private func write(_ data: Data, to file: [UInt8]) throws(WriteFailure) {
    do throws(SystemFailure) {
      try NewFile.makeFolders(path, permissions: Self.folderPermissions)
      let name = RawPath(bytes: file)
      let folder = try RootFolder(path).folder(name.folder, making: Self.folderPermissions)
      var new = try RootFolder.newFile(name.name, in: folder, permissions: Self.permissions)
      try new.write(data)
      try new.commit()
    } catch {
      throw WriteFailure(path: path.appending(file), failure: error)
    }
  }

  /// Removes a thumbnail or a record. Returns whether it was there.
  @discardableResult func remove(_ output: RawPath) -> Bool {
    (try? RootFolder(path).remove(output.bytes)) != nil
  }

  /// The thumbnails and records of pictures that no longer exist, in the folders among these inputs. A folder without
  /// any entry may lack its disk.
  func orphans(of inputs: [FolderConverter.Input]) -> [ConversionOrphan] {
    let folders = inputs.compactMap { input -> [UInt8]? in
      guard case .path(let path) = input, (try? FileState(of: path))?.kind == .folder, !path.isEmptyFolder else {
        return nil
      }
      return DesktopPicture.canonical(path).map { $0.bytes == [RawPath.slash] ? $0.bytes : $0.bytes + [RawPath.slash] }
    }
    let root = try? RootFolder(path)
    return (DesktopPicture.sizes.map(\.folder) + [Self.failures]).flatMap { folder in
      (root?.names(in: folder.utf8) ?? []).filter { $0.suffix(4).elementsEqual(".png".utf8) }
        .compactMap { name -> ConversionOrphan? in
          let file = RawPath(bytes: Array("\(folder)/".utf8) + name)
          // Another program's may be of a page or a part of a file.
          guard let uri = PNGTexts.read(path.appending(file.bytes))?["Thumb::URI"], uri.hasPrefix("file:///"),
            !uri.contains("#"), !uri.contains("?")
          else { return nil }
          let picture = RawPath(percentEncoded: Array(uri.utf8.dropFirst("file://".utf8.count))[...])
          guard folders.contains(where: { picture.bytes.starts(with: $0) }), picture.isGone,
            name == Array(DesktopPicture.name(of: uri).utf8)
          else { return nil }
          return ConversionOrphan(
            source: picture, outputs: [file], mayBeAway: picture.mayBeAway(since: nil), key: 0)
        }
    }
  }
}

extension RawPath {
  /// Whether it is a folder without any entry, as a mount point is without its disk.
  var isEmptyFolder: Bool {
    guard let stream = withCString({ opendir($0) }) else { return false }
    defer { closedir(stream) }
    // Itself and its parent are always there.
    for _ in 0..<3 where readdir(stream) == nil { return true }
    return false
  }

  /// Whether nothing has this path, not even a link.
  var isGone: Bool {
    do throws(SystemFailure) {
      _ = try FileState(of: self, followingLinks: false)
      return false
    } catch {
      return error.code == ENOENT || error.code == ENOTDIR
    }
  }
}
