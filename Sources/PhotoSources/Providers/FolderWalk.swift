import Foundation
import ThumbnailCore

/// Lists the images of a folder and its subfolders. Blocks; made for a single use on a thread of its own.
///
/// Leaves out hidden files and folders, and all that is neither a file nor a folder. Follows symbolic links. Every
/// folder is listed once, under its real path if that lies within the root, so cycles of links end.
struct FolderWalk {
  /// The extensions of images that are decoded in process, in lower case.
  static let pictureExtensions = Set(
    [ImageFormat.jpeg, .png, .webp, .gif, .tiff, .heif, .avif].flatMap(\.fileExtensions))

  private struct FolderID: Hashable {
    let device: dev_t
    let inode: ino_t
  }

  private let root: String
  private let extensions: Set<UInt64>
  private var visited: Set<FolderID> = []
  private var sorter: PathSorter
  private var skipped: [SkippedItem] = []
  /// A stack of the folders to list.
  private var pending: [String] = []
  /// Symbolic links to folders, listed after all real folders.
  private var linked: [String] = []

  /// A walk of the folder at an absolute path.
  init(root: String, extensions: Set<String> = pictureExtensions, sorter: PathSorter = PathSorter()) {
    self.root = root
    self.sorter = sorter
    self.extensions = Set(extensions.compactMap { Self.packed($0.utf8) })
  }

  /// Lists everything.
  mutating func run(cancelled: CancellationFlag) throws(ProviderError) -> FolderListing {
    try checkRoot()
    pending = [""]
    while let path = nextFolder() {
      if cancelled.isSet { throw .cancelled }
      try list(path)
    }
    skipped.sort { $0.place < $1.place }
    do throws(SystemFailure) {
      return try sorter.finish(skipped: skipped)
    } catch {
      throw .listingFailed(root, error)
    }
  }

  private func checkRoot() throws(ProviderError) {
    var status = stat()
    if stat(root, &status) != 0 {
      let code = errno
      if code == ENOENT || code == ENOTDIR { throw .folderMissing(path: root) }
      throw .folderUnreadable(path: root, reason: SystemFailure(code: code).reason)
    }
    if status.st_mode & S_IFMT != S_IFDIR { throw .notAFolder(path: root) }
  }

  private mutating func nextFolder() -> String? {
    if let path = pending.popLast() { return path }
    // Sorted, so that of several links to one folder always the same one is followed.
    linked.sort { NaturalOrder.areInOrder($1.utf8, $0.utf8) }
    return linked.popLast()
  }

  /// Lists one folder; `path` is empty or ends in a slash.
  private mutating func list(_ path: String) throws(ProviderError) {
    guard let directory = opendir(root + "/" + path) else {
      let reason = SystemFailure.last.reason
      if path.isEmpty { throw .folderUnreadable(path: root, reason: reason) }
      skipped.append(SkippedItem(place: path, reason: "the folder cannot be read: \(reason)"))
      return
    }
    defer { closedir(directory) }
    var status = stat()
    guard fstat(dirfd(directory), &status) == 0,
      visited.insert(FolderID(device: status.st_dev, inode: status.st_ino)).inserted
    else { return }
    var subfolders: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else {
        if errno != 0 {
          skipped.append(SkippedItem(place: path, reason: "the rest cannot be read: \(SystemFailure.last.reason)"))
        }
        break
      }
      do throws(SystemFailure) {
        try Self.withName(of: entry) { name throws(SystemFailure) in
          guard name.first != UInt8(ascii: ".") else { return }
          try take(name, type: entry.pointee.d_type, of: directory, at: path, subfolders: &subfolders)
        }
      } catch {
        throw .listingFailed(root, error)
      }
    }
    // Reversed, since the stack's last folder is listed first.
    pending += subfolders.sorted { NaturalOrder.areInOrder($1.utf8, $0.utf8) }
  }

  private mutating func take(
    _ name: UnsafeBufferPointer<UInt8>, type: UInt8, of directory: OpaquePointer, at path: String,
    subfolders: inout [String]
  ) throws(SystemFailure) {
    let isPicture = isPicture(name)
    var kind = type == DT_UNKNOWN ? Self.kind(of: name, in: directory, followingLinks: false) : Int(type)
    let isLink = kind == DT_LNK
    if isLink { kind = Self.kind(of: name, in: directory, followingLinks: true) }
    guard let kind else {
      if isPicture { skipped.append(SkippedItem(place: place(path, name), reason: SystemFailure.last.reason)) }
      return
    }
    guard kind == DT_DIR || kind == DT_REG && isPicture else { return }
    guard let text = String(validating: name, as: UTF8.self) else {
      skipped.append(SkippedItem(place: place(path, name), reason: "its name is not UTF-8; rename it"))
      return
    }
    if kind == DT_REG {
      try sorter.add(name, in: path.utf8)
    } else if isLink {
      linked.append("\(path)\(text)/")
    } else {
      subfolders.append("\(path)\(text)/")
    }
  }

  private func place(_ path: String, _ name: UnsafeBufferPointer<UInt8>) -> String {
    path + Snippet.line(String(decoding: name, as: UTF8.self), limit: 255)
  }

  private func isPicture(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), let end = Self.packed(name[(dot + 1)...]) else {
      return false
    }
    return extensions.contains(end)
  }

  /// The lower-case extension packed into an integer, which compares faster than a string. Nil if it is longer than
  /// eight bytes.
  private static func packed(_ end: some Collection<UInt8>) -> UInt64? {
    guard (1...8).contains(end.count) else { return nil }
    return end.reduce(0) { $0 << 8 | UInt64((0x41...0x5a).contains($1) ? $1 | 0x20 : $1) }
  }

  /// Calls `body` with the bytes of an entry's name, which are followed by a zero byte.
  private static func withName(
    of entry: UnsafeMutablePointer<dirent>, _ body: (UnsafeBufferPointer<UInt8>) throws(SystemFailure) -> Void
  ) throws(SystemFailure) {
    // The kernel's record ends with the name: the 256 bytes that C declares may not all be there.
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return }
    let base = (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: UInt8.self)
    try body(
      UnsafeBufferPointer(start: base, count: strlen(UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self))))
  }

  /// The type of a directory entry as a `DT_` value; nil with `errno` set if `fstatat` fails.
  private static func kind(
    of name: UnsafeBufferPointer<UInt8>, in directory: OpaquePointer, followingLinks: Bool
  ) -> Int? {
    var status = stat()
    let result = name.withMemoryRebound(to: CChar.self) { name in
      name.baseAddress.map { fstatat(dirfd(directory), $0, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW) } ?? -1
    }
    guard result == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return DT_DIR
    case S_IFREG: return DT_REG
    case S_IFLNK: return DT_LNK
    default: return DT_UNKNOWN
    }
  }
}

extension ProviderError {
  /// The list of a folder's images could not be written or read.
  static func listingFailed(_ path: String, _ failure: SystemFailure) -> ProviderError {
    let place = PathSorter.standardDirectories[0]
    return .folderUnreadable(
      path: path,
      reason: "the list of its pictures cannot be kept in \(place) (TMPDIR names another): \(failure.reason)")
  }
}
