import FolderConversion
import Foundation
import ImageCodec
import ThumbnailCore
import Thumbnailer

/// A file that the user named, for writing: a new file that replaces it when complete, with its permissions, or the
/// device, named pipe or open file (`/dev/stdout`) that it is. A symbolic link is kept and its target replaced.
struct OutputFile: ~Copyable, Sendable {
  private let descriptor: FileDescriptor
  /// Nil for a device, a named pipe or an open file, which is written to directly.
  private var replacement: NewFile?
  /// What it replaces, if anything.
  let existing: FileState?

  /// Creates a new file in the folder of the named one, or opens a device.
  ///
  /// - Parameter fillsEmpty: Whether a file that is empty is written to directly, too.
  init(_ path: String, fillsEmpty: Bool = false) throws(SystemFailure) {
    let name = RawPath(path)
    // Checks would look at the name with characters that stand for what is not UTF-8, which may be another file's.
    if path.contains("\u{FFFD}"),
      RawPath.arguments.contains(where: { String(validating: $0.bytes, as: UTF8.self) == nil })
    {
      throw SystemFailure(code: EILSEQ)
    }
    let there = try Self.state(of: name)
    let target = try Self.target(of: name)
    if let own = target.descriptor {
      // Others are files of this program.
      guard fcntl(own, F_GETFD) & FD_CLOEXEC == 0 else { throw SystemFailure(code: EBADF) }
      let copy = fcntl(own, F_DUPFD_CLOEXEC, 0)
      guard copy >= 0 else { throw .last }
      descriptor = FileDescriptor(owning: copy)
      replacement = nil
    } else if let there, there.kind == .regular, there.byteCount == 0, fillsEmpty,
      let empty = Self.opened(target.path)
    {
      descriptor = empty
      replacement = nil
    } else if let there, there.kind != .regular {
      let device = open(path, O_WRONLY | O_CLOEXEC)
      guard device >= 0 else { throw .last }
      descriptor = FileDescriptor(owning: device)
      replacement = nil
    } else {
      // As a shell: a new name would replace what is protected, also from who may do all, or another user's.
      if let there, there.permissions & 0o222 == 0 || name.withCString({ access($0, W_OK) }) != 0 {
        throw SystemFailure(code: EACCES)
      }
      if there != nil, target.path.pool.mayHideOthers { throw SystemFailure(code: EEXIST) }
      let file = try NewFile(target.path, permissions: there == nil ? 0o666 : 0o600)
      if let there { try file.setPermissions(there.permissions & 0o777) }
      descriptor = file.file
      replacement = consume file
    }
    existing = there
  }

  /// An empty file with one name, for writing; nil if it is none, whatever its file system says of its length.
  private static func opened(_ path: RawPath) -> FileDescriptor? {
    let opened = path.withCString { open($0, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC) }
    guard opened >= 0 else { return nil }
    let file = FileDescriptor(owning: opened)
    guard let state = try? FileState(ofOpen: file), state.kind == .regular, state.byteCount == 0,
      state.linkCount == 1, state.permissions & 0o222 != 0,
      (try? ByteSource.file(file, count: 1).read(at: 0, length: 1))?.isEmpty == true
    else { return nil }
    return file
  }

  /// Appends all of the bytes.
  func write(_ bytes: some ContiguousBytes) throws(SystemFailure) {
    try NewFile.write(bytes, to: descriptor.rawValue)
  }

  /// Gives the file its name, unless another one has come there since. A file without this call is removed.
  mutating func commit() throws(SystemFailure) {
    // An exchange of names is not what file systems wait with until the bytes are there.
    try replacement?.sync()
    if try replacement?.commit(over: existing) == false { throw SystemFailure(code: EEXIST) }
  }

  /// Writes a thumbnail whole, so that readers see either the old or the new content, but for what a file manager's empty
  /// file gets. See `check`.
  static func write(
    _ data: Data, of size: PixelSize, to path: String, for picture: RawPath? = nil
  ) throws(FileWriteError) {
    var file: OutputFile
    // A file manager (Thunar) reads the thumbnail from the file that it has made, and has open.
    do throws(SystemFailure) {
      file = try OutputFile(path, fillsEmpty: picture != nil)
    } catch {
      throw FileWriteError(path: path, error)
    }
    // What has come since is not replaced.
    if file.replacement != nil { try check(path, file.existing, for: size, of: picture) }
    do throws(SystemFailure) {
      try file.write(data)
      try file.commit()
    } catch {
      throw FileWriteError(path: path, error)
    }
  }

  /// Whether a thumbnail of at most this size may have this name. Otherwise there is a file that it would replace, as
  /// where the shell has put a picture's name behind `--output`: a larger picture, or what is none.
  ///
  /// - Parameter picture: For a file manager, the picture: it may have an own, larger thumbnail of it there.
  static func check(
    _ path: String, _ there: FileState?, for size: PixelSize, of picture: RawPath? = nil
  ) throws(FileWriteError) {
    let named = RawPath(path)
    guard there?.kind == .regular, (try? target(of: named))?.descriptor == nil else { return }
    guard let (file, state) = try? RootFolder.file(at: named),
      // Some file systems do not tell how long a file is.
      let first = try? ByteSource.file(file, count: 1).read(at: 0, length: 1)
    else { throw FileWriteError(path: path, reason: "it is there, and cannot be read") }
    if first.isEmpty { return }
    // Of a RAW file or TIFF, what is found first may be its own thumbnail.
    guard let header = try? probe(.file(file, count: state.byteCount), limits: DecodeLimits()),
      OutputFormat(rawValue: header.format.rawValue) != nil
    else { throw FileWriteError(path: path, reason: "it is there, and no thumbnail") }
    let found = header.size
    if let picture, DesktopThumbnail.isOne(named, of: picture, found) { return }
    let sides = [found, size].map { [$0.width, $0.height].sorted() }
    if sides[0][0] > sides[1][0] || sides[0][1] > sides[1][1] {
      throw FileWriteError(path: path, reason: "it is there, and a larger picture, of \(found)")
    }
  }

  /// The state of what a path leads to; nil if nothing is there.
  static func state(of path: RawPath) throws(SystemFailure) -> FileState? {
    do {
      return try FileState(of: path)
    } catch {
      guard [ENOENT, ENOTDIR, ELOOP].contains(error.code) else { throw error }
      return nil
    }
  }

  /// Whether both paths lead to the same folder, or to where it would be.
  static func isSameFolder(_ one: String, _ other: String) -> Bool {
    if let place = RawPath(one).resolvedWhereThere, place == RawPath(other).resolvedWhereThere { return true }
    guard let first = try? FileState(of: RawPath(one)), let second = try? FileState(of: RawPath(other)) else {
      return false
    }
    return first.isSameFile(as: second)
  }

  /// Whether both paths lead to the same regular file, by another mount, too; `-` is the standard input.
  static func isSameFile(_ one: RawPath, _ other: String) -> Bool {
    let input = one == RawPath("-") ? try? FileState(ofOpen: Console.standard.input) : nil
    let states: (FileState?, FileState?)
    // A file whose state cannot be read may be the same.
    do {
      states = (input != nil ? input : try state(of: one), try state(of: RawPath(other)))
    } catch {
      return ![EACCES, ENAMETOOLONG].contains(error.code)
    }
    guard let first = states.0, let second = states.1, first.kind == .regular else { return false }
    let pool = RawPath(other).pool
    if ([second] + pool.files).contains(where: first.mayBeSameFile) { return true }
    // What a pool hides has the same name.
    let own = (input == nil ? one : RawPath("/dev/stdin")).resolved
    if pool.files.isEmpty, pool.mayHideOthers, own?.name == RawPath(other).resolved?.name { return true }
    guard input == nil, first.device != second.device,
      let files = try? (RootFolder.file(at: one), RootFolder.file(at: RawPath(other)))
    else { return false }
    return (try? RootFolder.areSameBytes(files.0, files.1)) ?? true
  }

  private static func isOpen(_ descriptor: Int32, as path: RawPath) -> Bool {
    guard let open = try? FileState(ofOpen: descriptor), let file = try? FileState(of: path) else { return false }
    return open.isSameFile(as: file)
  }

  /// Whether another user has put a link into a folder of all (`/tmp`): the kernel need not protect from it.
  private static func isPlanted(_ link: RawPath) -> Bool {
    let folder = link.folder.isEmpty ? RawPath(".") : RawPath(bytes: link.folder)
    guard let place = try? FileState(of: folder) else { return true }
    return (try? FileState(of: link, followingLinks: false))?.isPlanted(in: place) ?? true
  }

  /// The path with symbolic links resolved, whether or not the target exists, and the number of the file if it is one
  /// that this process has open.
  private static func target(of path: RawPath) throws(SystemFailure) -> (path: RawPath, descriptor: Int32?) {
    let own = ["/proc/self/fd", "/proc/thread-self/fd"].compactMap { RawPath($0).resolved }
    var path = path
    for _ in 0..<40 {
      if let folder = RawPath(bytes: path.folder).resolved, let number = Int32("\(RawPath(bytes: path.name))") {
        if own.contains(folder) { return (path, number) }
        // As a shell names its own stdout, which is this program's, too.
        if "\(folder)".hasPrefix("/proc/"), "\(folder)".hasSuffix("/fd"),
          let shared = (0...2).first(where: { isOpen($0, as: path) })
        {
          return (path, shared)
        }
      }
      guard let next = path.destination else { return (path.resolved ?? path, nil) }
      if isPlanted(path) { throw SystemFailure(code: EACCES) }
      path = next.bytes.first == RawPath.slash ? next : RawPath(bytes: path.folder + next.bytes)
    }
    throw SystemFailure(code: ELOOP)
  }
}
