package import Foundation
import ThumbnailCore

/// Keeps partial large bodies on disk, so that a later run can resume them.
///
/// A folder of pairs: `NAME.part` holds the bytes, `NAME.json` a label that describes them. A user of a pair locks
/// its bytes, so several processes may share the folder. Files from before the last boot are not used: after a power
/// failure a file can be longer than what was really written.
///
/// All methods but `exists`, `accepts` and `openFile` do slow file I/O and belong on the store's own thread: see
/// `onThread`.
package struct PartialStore: Sendable {
  /// Bodies shorter than this are not kept: downloading them again is cheap.
  static let leastTotal = 1 << 20
  /// The age at which files are deleted, in seconds.
  static let longestAge: TimeInterval = 7 * 86_400

  private let directory: String
  private let byteLimit: Int
  private let leastTotal: Int

  /// `byteLimit` bounds the total of all bodies, in bytes, counting their complete lengths. The folder is created with
  /// the first body.
  package init(directory: URL, byteLimit: Int, leastTotal: Int = Self.leastTotal) {
    self.directory = directory.path
    self.byteLimit = byteLimit
    self.leastTotal = leastTotal
  }

  /// Serialises finding, labelling and deleting files, so that neither transfers nor tasks wait for the disk.
  private static let thread = DispatchQueue(label: "thumbnailer.partial", qos: .utility)

  /// Queues work on the store's thread.
  package static func onThread(_ work: @escaping @Sendable () -> Void) { thread.async(execute: work) }

  /// Runs work on the store's thread, after everything queued before, and waits for its result.
  package static func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      thread.async { continuation.resume(returning: work()) }
    }
  }

  /// The contents of `NAME.json`.
  private struct Label: Codable {
    var address: Data
    var etag: String
    var total: Int
    var boot: String
  }

  /// Whether there is a file of a download. One system call, which reads no file.
  func exists(_ name: String) -> Bool { access(names(of: name).bytesPath, F_OK) == 0 }

  /// The partial body of a download, if it can be resumed and is not in use.
  func open(_ name: String) -> PartialBody? {
    let stored = StoredPartial(directory: directory, name: name)
    let descriptor = Foundation.open(stored.bytesPath, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    let file = FileDescriptor(owning: descriptor)
    guard file.lock() else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, stored.isSameFile(status),
      let data = FileManager.default.contents(atPath: stored.labelPath),
      let label = try? JSONDecoder().decode(Label.self, from: data), label.boot == Self.boot,
      label.address.count == 16, (1..<label.total).contains(Int(status.st_size)), label.total <= byteLimit
    else {
      stored.remove()
      return nil
    }
    return PartialBody(
      file: file, count: Int(status.st_size), total: label.total, etag: label.etag,
      address: SourceKey(bytes: label.address), stored: OpenPartial(names: stored, file: file), isObserved: false)
  }

  /// The files of a body.
  func names(of name: String) -> StoredPartial { StoredPartial(directory: directory, name: name) }

  /// Whether a body of `total` bytes should be kept.
  func accepts(total: Int) -> Bool { total >= leastTotal && total <= byteLimit && Self.boot != "" }

  /// Creates or truncates the file of a body, which is unusable until it is labelled. Nil when another process uses it.
  /// Takes no longer than opening any new file.
  func openFile(_ name: String) -> OpenPartial? {
    let names = StoredPartial(directory: directory, name: name)
    func openBytes() -> Int32 { Foundation.open(names.bytesPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    var descriptor = openBytes()
    if descriptor < 0, errno == ENOENT, mkdir(directory, 0o700) == 0 || errno == EEXIST { descriptor = openBytes() }
    guard descriptor >= 0 else { return nil }
    let file = FileDescriptor(owning: descriptor)
    var status = stat()
    guard file.lock() else {
      // A file system without locks: the file that was just created for nothing.
      if errno != EWOULDBLOCK, fstat(descriptor, &status) == 0, status.st_size == 0 { names.remove() }
      return nil
    }
    guard fstat(descriptor, &status) == 0, names.isSameFile(status) else { return nil }
    guard ftruncate(descriptor, 0) == 0 else {
      names.remove()
      return nil
    }
    // It would describe the bytes of an earlier body.
    unlink(names.labelPath)
    return OpenPartial(names: names, file: file)
  }

  /// Labels a new file so that it can be resumed. If there is no room beside the files in use, it is unlinked. Returns
  /// whether it is kept.
  @discardableResult
  func label(_ opened: OpenPartial, address: SourceKey, etag: String, total: Int) -> Bool {
    let label = Label(address: address.bytes, etag: etag, total: total, boot: Self.boot)
    guard makeRoom(for: total, sparing: opened.names.name), let bytes = try? JSONEncoder().encode(label),
      opened.isInPlace, Self.write(bytes, to: opened.names.labelPath)
    else {
      opened.remove()
      return false
    }
    return true
  }

  /// Writes a file readable by its user only.
  private static func write(_ bytes: Data, to path: String) -> Bool {
    unlink(path)
    let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return false }
    let file = FileDescriptor(owning: descriptor)
    return bytes.withUnsafeBytes { Foundation.write(file.rawValue, $0.baseAddress, $0.count) } == bytes.count
  }

  /// The total size of all files, in bytes.
  package var usedBytes: Int {
    entries().reduce(0) { sum, entry in
      var status = stat()
      return stat(entry.stored.bytesPath, &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }

  /// Deletes all files that are not in use.
  package func removeAll() {
    for entry in entries() { entry.stored.removeIfIdle() }
    rmdir(directory)
  }

  /// Deletes files that are too old, then the oldest beyond the limit.
  package func tidy() { makeRoom(for: 0, sparing: "") }

  /// Deletes files that are too old, then the oldest until there is room. False when the rest is in use and leaves no
  /// room.
  @discardableResult
  private func makeRoom(for total: Int, sparing name: String) -> Bool {
    let now = Date().timeIntervalSince1970
    var kept = entries().filter { $0.stored.name != name }.sorted { $0.modified < $1.modified }
    kept.removeAll { now - $0.modified > Self.longestAge && $0.stored.removeIfIdle() }
    var used = kept.reduce(0) { $0 + $1.total }
    for entry in kept where used + total > byteLimit {
      if entry.stored.removeIfIdle() { used -= entry.total }
    }
    return used + total <= byteLimit
  }

  private struct Entry {
    let stored: StoredPartial
    let modified: TimeInterval
    /// Its size when complete.
    let total: Int
  }

  private func entries() -> [Entry] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return Set(names.compactMap { StoredPartial.name(ofFile: $0) }).map { name in
      let stored = StoredPartial(directory: directory, name: name)
      var status = stat()
      let path = stat(stored.bytesPath, &status) == 0 ? stored.bytesPath : stored.labelPath
      let modified = stat(path, &status) == 0 ? TimeInterval(status.st_mtim.tv_sec) : 0
      let label = FileManager.default.contents(atPath: stored.labelPath)
        .flatMap { try? JSONDecoder().decode(Label.self, from: $0) }
      return Entry(stored: stored, modified: modified, total: max(label?.total ?? 0, Int(status.st_size)))
    }
  }

  /// Identifies the current boot; empty if the kernel does not report it.
  private static let boot: String =
    (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
    .trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
}

/// The file names of one stored body.
struct StoredPartial: Sendable {
  let directory: String
  let name: String

  var bytesPath: String { "\(directory)/\(name).part" }
  var labelPath: String { "\(directory)/\(name).json" }

  /// The name of the body that a file belongs to; nil for an unrelated file.
  static func name(ofFile file: String) -> String? {
    for suffix in [".part", ".json"] where file.hasSuffix(suffix) {
      let name = file.dropLast(suffix.count)
      return name.count == 32 && name.allSatisfy(\.isHexDigit) ? String(name) : nil
    }
    return nil
  }

  /// Whether the path still leads to that open file: another process may have unlinked it before we got the lock.
  func isSameFile(_ open: stat) -> Bool {
    var status = stat()
    return stat(bytesPath, &status) == 0 && status.st_ino == open.st_ino && status.st_dev == open.st_dev
  }

  /// Unlinks the files; open descriptors stay valid. The caller must hold the lock.
  func remove() {
    unlink(bytesPath)
    unlink(labelPath)
  }

  /// Unlinks the files unless the body is in use.
  @discardableResult
  func removeIfIdle() -> Bool {
    let descriptor = Foundation.open(bytesPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor >= 0 {
      let file = FileDescriptor(owning: descriptor)
      return withExtendedLifetime(file) {
        guard file.lock() else { return false }
        remove()
        return true
      }
    }
    remove()
    return true
  }
}

/// A stored body in use: its paths, and its open file with the lock.
struct OpenPartial: Sendable {
  let names: StoredPartial
  let file: FileDescriptor

  /// Whether the path still leads to the file.
  var isInPlace: Bool {
    var status = stat()
    return fstat(file.rawValue, &status) == 0 && names.isSameFile(status)
  }

  /// Unlinks the files, unless the path leads to another file by now.
  func remove() { if isInPlace { names.remove() } }
}
