import Foundation
package import ThumbnailCore
import Thumbnailer

/// The folder whose files strangers may ask for by path. It is never left: each part of a path is opened within the one
/// before it, and links are not followed, so no change to the folder in the meantime leads elsewhere.
package final class ServedFolder: Sendable {
  private let root: FileDescriptor

  /// Opens the folder. Nil if it cannot be opened.
  package init?(path: String) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    root = FileDescriptor(owning: descriptor)
  }

  /// The image at a path within the folder; nil if there is no such file. Blocks for some system calls.
  ///
  /// - Parameter path: Percent-decoded, its parts separated by slashes.
  package func image(at path: String) -> ImageSource? {
    // As the system reads it: a slash and a combining mark are one Character, which is no slash.
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard !parts.isEmpty, parts.allSatisfy(Self.isName), let file = file(parts) else { return nil }
    var status = stat()
    guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let state = FileState(status)
    // Says nothing of the path: a file that was moved is the same image.
    let identity = "\(state.device)-\(state.inode)-\(state.byteCount)-\(state.modified)"
    return .loaded(by: ServedFile(file: file, state: state), identity: "file \(identity)")
  }

  /// Neither empty, nor hidden, nor a way out.
  private static func isName(_ part: Substring.UTF8View) -> Bool {
    !part.isEmpty && part.first != UInt8(ascii: ".") && !part.contains(0)
  }

  private func file(_ parts: [Substring.UTF8View]) -> FileDescriptor? {
    var place = root
    for (index, part) in parts.enumerated() {
      // Without waiting: the other end of a pipe might never come.
      let flags = index == parts.count - 1 ? O_RDONLY | O_NONBLOCK : O_RDONLY | O_DIRECTORY
      let descriptor = openat(place.rawValue, String(Substring(part)), flags | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      place = FileDescriptor(owning: descriptor)
    }
    return place
  }
}

/// An open file as an image's bytes.
private struct ServedFile: ImageLoading {
  let file: FileDescriptor
  let state: FileState

  var isLocal: Bool { true }
  var site: String? { "folder" }

  func load(_ request: ImageLoadRequest) -> LoadedImage { LoadedImage(file, state) }
}
