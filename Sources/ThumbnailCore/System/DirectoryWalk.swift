import Glibc

/// Lists a folder and its subfolders, each of them once. Blocks; for use on a thread of its own.
///
/// A folder's own entries come before those of its subfolders, and subfolders in `areInOrder`. Folders reached by
/// symbolic links come last: a folder is listed under its real path if that lies within the root, and cycles of links
/// end. Holds the paths of the folders still to list, and the identity of each folder listed, but no names of files.
package struct DirectoryWalk {
  /// A folder of the walk.
  package struct Folder {
    /// The path relative to the root; empty for the root itself, otherwise with a trailing slash.
    package let path: [UInt8]
    /// The path to open: the root's path and `path`.
    package let opened: RawPath

    /// Whether it is marked as none whose images are shown, and is not the root itself.
    package var isPassedOver: Bool { !path.isEmpty && DirectoryWalk.isMarked(opened) }
  }

  /// The file in the folder of each site (`thumbs site`) that marks it as one.
  package static let siteMarker = Array("site-files/thumbs-site.txt".utf8)
  /// The file that marks a folder whose images no gallery shows, as Android has it, whose file systems know no case.
  private static let noMedia = [".nomedia", ".NOMEDIA", ".Nomedia", ".NoMedia"].map { Array($0.utf8) }
  /// The file with the names of the entries of its folder that file managers do not show, one a line.
  package static let hiddenList = Array(".hidden".utf8)
  private static let longestHiddenList = 1 << 20

  /// The folders of systems for what was deleted, found, kept from before, or made from pictures.
  private static let systemNames = Set(
    [
      "#recycle", "#snapshot", "@Recently-Snapshot", "@Recycle", "@eaDir", "RECYCLER", "files_trashbin", "lost+found",
      "~snapshot",
    ].map { Array($0.utf8) })
  /// Those of Windows, in lower case.
  private static let systemNamesInAnyCase = Set(
    ["$recycle.bin", "system volume information"].map { Array($0.utf8) })

  /// Whether an entry is no part of what a user shows: its name begins with a dot, or is that of a system's folder.
  package static func isHidden(_ name: some Collection<UInt8>) -> Bool {
    if name.first == UInt8(ascii: ".") || systemNames.contains(Array(name)) { return true }
    guard let first = name.first, [0x24, 0x46, 0x53, 0x66, 0x73].contains(first) else { return false }
    let name = name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    // FOUND.000 and so on are those of chkdsk.
    return systemNamesInAnyCase.contains(name)
      || name.count == 9 && name.starts(with: "found.".utf8) && name.suffix(3).allSatisfy { (0x30...0x39).contains($0) }
  }

  private static func isMarked(_ folder: RawPath) -> Bool {
    (noMedia + [siteMarker]).contains { (try? FileState(of: folder.appending($0), followingLinks: false)) != nil }
  }

  /// The names of a folder's list, however their accents are composed; nil if there is one that cannot be read.
  private static func hiddenNames(in folder: RawPath) -> Set<Name>? {
    let list = folder.appending(hiddenList)
    let isThere = (try? FileState(of: list, followingLinks: false)).map { $0.kind != .folder }
    if isThere != true { return [] }
    // It may be a link, as those that keep settings elsewhere make it.
    guard let file = list.resolved,
      let text = try? RootFolder(RawPath(bytes: file.folder)).bytes(of: Array(file.name), atMost: longestHiddenList)
    else { return nil }
    // As of UTF-16, which PowerShell writes.
    if text.contains(0) || text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) { return nil }
    let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    return Set(lines.map { Name($0.starts(with: "\u{FEFF}".utf8) ? $0.dropFirst(3) : $0) })
  }

  /// A name, which is equal to others by its letters, however their accents are composed, if it is UTF-8.
  private struct Name: Hashable {
    private let text: String?
    private let others: [UInt8]

    init(_ bytes: some Sequence<UInt8>) {
      let bytes = Array(bytes)
      text = String(validating: bytes, as: UTF8.self)
      others = text == nil ? bytes : []
    }

    var bytes: [UInt8] { text.map { Array($0.utf8) } ?? others }
    /// Its letters in one case.
    var caseless: String { text?.lowercased() ?? String(decoding: others, as: UTF8.self) }
  }

  private static let namesOfSystems = systemNames.map { Name($0) }

  /// Whether a walk of `root` passes over a path in it, which may be gone, or over a folder of that path.
  ///
  /// - Parameter isAsked: Whether somebody asks for this path. Then it does also where a list of hidden names cannot be
  ///   read, and for a hidden name in letters of another case, if the disk takes both for one file.
  package static func passesOver(_ path: some Collection<UInt8>, in root: RawPath, isAsked: Bool = true) -> Bool {
    var folder = root
    return path.split(separator: RawPath.slash).contains { name in
      defer { folder = folder.appending(name) }
      if isHidden(name) || isMarked(folder.appending(name)) { return true }
      let wanted = Name(name)
      guard isAsked, let listed = hiddenNames(in: folder)?.union(namesOfSystems) else {
        return hiddenNames(in: folder)?.contains(wanted) ?? isAsked
      }
      let state = try? FileState(of: folder.appending(name))
      return listed.contains { other in
        other == wanted
          || other.caseless == wanted.caseless
            && state?.id == (try? FileState(of: folder.appending(other.bytes)))?.id
      }
    }
  }

  /// An entry of a folder, other than `.` and `..`.
  package struct Entry {
    /// The bytes of the name. Valid only during the call.
    package let name: UnsafeBufferPointer<UInt8>
    /// Whether it is a symbolic link.
    package let isLink: Bool
    /// Whether it is no part of what a user shows: see `isHidden`, or its folder's list has it.
    package let isHidden: Bool
    /// The kind; for a link, that of its target if links are followed. Or why it cannot be determined.
    package let kind: Result<FileState.Kind, SystemFailure>
  }

  /// An event of the walk.
  package enum Event {
    /// Its entries follow, unless the visitor declines.
    case opened(FileState)
    /// An entry. A folder among the entries is listed later, unless the visitor declines.
    case entry(Entry)
    /// It was listed before, under another path.
    case repeated(FileState)
    /// It cannot be opened.
    case unreadable(SystemFailure)
    /// Entries are missing, because reading failed.
    case incomplete(SystemFailure)
  }

  private let root: RawPath
  private let followsLinks: Bool
  private let areInOrder: ([UInt8], [UInt8]) -> Bool
  private var visited: Set<FileState.ID> = []
  /// A stack of the folders to list.
  private var pending: [[UInt8]] = [[]]
  /// Links to folders, listed after all real folders.
  private var linked: [[UInt8]] = []

  /// A walk of the folder at a path; an empty one is the working directory.
  ///
  /// - Parameter areInOrder: Compares the paths of folders.
  package init(
    of root: RawPath, followsLinks: Bool,
    areInOrder: @escaping ([UInt8], [UInt8]) -> Bool = { $0.lexicographicallyPrecedes($1) }
  ) {
    self.root = root
    self.followsLinks = followsLinks
    self.areInOrder = areInOrder
  }

  /// Lists the next folder. False when all have been listed.
  ///
  /// - Parameter visit: Called for each event. The result counts for `opened` and for entries that are folders: whether
  ///   to list them.
  package mutating func listNext<Failure>(
    _ visit: (Folder, Event) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    guard let path = nextPath() else { return false }
    let opened = root.appending(path)
    let folder = Folder(path: path, opened: opened.bytes.isEmpty ? RawPath(".") : opened)
    guard let directory = folder.opened.withCString({ opendir($0) }) else {
      _ = try visit(folder, .unreadable(.last))
      return true
    }
    defer { closedir(directory) }
    guard let state = try? FileState(ofOpen: dirfd(directory)) else {
      _ = try visit(folder, .unreadable(.last))
      return true
    }
    guard visited.insert(state.id).inserted else {
      _ = try visit(folder, .repeated(state))
      return true
    }
    guard try visit(folder, .opened(state)) else { return true }
    guard let hidden = Self.hiddenNames(in: folder.opened) else {
      _ = try visit(folder, .incomplete(.hiddenList))
      return true
    }
    var subfolders: [[UInt8]] = []
    while true {
      errno = 0
      guard let record = readdir(directory) else {
        if errno != 0 { _ = try visit(folder, .incomplete(.last)) }
        break
      }
      let name = Self.name(of: record)
      guard !Self.isDots(name) else { continue }
      let entry = entry(name, hidden, type: record.pointee.d_type, in: directory)
      guard try visit(folder, .entry(entry)), case .success(.folder) = entry.kind else { continue }
      let path = path + name + [RawPath.slash]
      if entry.isLink { linked.append(path) } else { subfolders.append(path) }
    }
    // Reversed, since the stack's last folder is listed first.
    pending += subfolders.sorted { areInOrder($1, $0) }
    return true
  }

  private mutating func nextPath() -> [UInt8]? {
    if let path = pending.popLast() { return path }
    // Sorted, so that the same one of several links to a folder is always followed.
    linked.sort { areInOrder($1, $0) }
    return linked.popLast()
  }

  private func entry(
    _ name: UnsafeBufferPointer<UInt8>, _ hidden: Set<Name>, type: UInt8, in directory: OpaquePointer
  ) -> Entry {
    let isHidden = Self.isHidden(name) || !hidden.isEmpty && hidden.contains(Name(name))
    let kind = Self.kind(type) ?? Self.kind(of: name, in: directory, followingLinks: false)
    guard case .success(.link) = kind else { return Entry(name: name, isLink: false, isHidden: isHidden, kind: kind) }
    return Entry(
      name: name, isLink: true, isHidden: isHidden,
      kind: followsLinks ? Self.kind(of: name, in: directory, followingLinks: true) : kind)
  }

  /// The type that `readdir` reports for an entry; nil if it reports none.
  private static func kind(_ type: UInt8) -> Result<FileState.Kind, SystemFailure>? {
    switch Int(type) {
    case DT_REG: .success(.regular)
    case DT_DIR: .success(.folder)
    case DT_LNK: .success(.link)
    case DT_UNKNOWN: nil
    default: .success(.other)
    }
  }

  private static func kind(
    of name: UnsafeBufferPointer<UInt8>, in directory: OpaquePointer, followingLinks: Bool
  ) -> Result<FileState.Kind, SystemFailure> {
    var status = stat()
    let result = name.withMemoryRebound(to: CChar.self) { name in
      name.baseAddress.map { fstatat(dirfd(directory), $0, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW) } ?? -1
    }
    return result == 0 ? .success(FileState(status).kind) : .failure(.last)
  }

  private static func isDots(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.isEmpty || name.count <= 2 && name.allSatisfy { $0 == UInt8(ascii: ".") }
  }

  /// The bytes of an entry's name, which are followed by a zero byte. Valid until the next `readdir`.
  static func name(of record: UnsafeMutablePointer<dirent>) -> UnsafeBufferPointer<UInt8> {
    // The kernel's record ends with the name: the 256 bytes that C declares may not all be there.
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else {
      return UnsafeBufferPointer(start: nil, count: 0)
    }
    let base = (UnsafeRawPointer(record) + offset).assumingMemoryBound(to: UInt8.self)
    return UnsafeBufferPointer(
      start: base, count: strlen(UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self)))
  }
}
