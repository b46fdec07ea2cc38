import Foundation

/// Keeps the beginnings of large bodies on the disk, so that a later run goes on where this one broke off.
///
/// A folder of pairs: `NAME.part` holds the bytes, `NAME.json` what they belong to. Who works with a pair holds a lock
/// on its bytes, so several processes may share the folder. What was written before the machine's last start is not
/// used: after a power failure a file can be longer than what was really written.
struct PartialStore: Sendable {
  /// Bodies shorter than this are not kept: fetching them again costs little.
  static let leastTotal = 1 << 20
  /// What is older is thrown away.
  static let longestAge: TimeInterval = 7 * 86_400

  private let directory: String
  private let byteLimit: Int
  private let leastTotal: Int

  /// `byteLimit` bounds all of them together, in bytes, as long as they will be when complete. The folder is made with
  /// the first body.
  init(directory: URL, byteLimit: Int, leastTotal: Int = Self.leastTotal) {
    self.directory = directory.path
    self.byteLimit = byteLimit
    self.leastTotal = leastTotal
  }

  /// What stands in `NAME.json`.
  private struct Label: Codable {
    var address: Data
    var etag: String
    var total: Int
    var boot: String
  }

  /// What is there of a download, if it can be gone on with and nobody else is doing so.
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
      address: SourceKey(bytes: label.address), stored: stored, isObserved: false)
  }

  /// A new file for a body of `total` bytes, in place of an earlier one. Nil when it is not worth it, when there is no
  /// room, or when another process has it in hand.
  func create(_ name: String, address: SourceKey, etag: String, total: Int) -> (
    file: FileDescriptor, stored: StoredPartial
  )? {
    guard total >= leastTotal, total <= byteLimit, Self.boot != "",
      let label = try? JSONEncoder().encode(
        Label(address: address.bytes, etag: etag, total: total, boot: Self.boot))
    else { return nil }
    guard mkdir(directory, 0o700) == 0 || errno == EEXIST, makeRoom(for: total, sparing: name) else { return nil }
    let stored = StoredPartial(directory: directory, name: name)
    let descriptor = Foundation.open(stored.bytesPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    let file = FileDescriptor(owning: descriptor)
    var status = stat()
    guard file.lock(), fstat(descriptor, &status) == 0, stored.isSameFile(status),
      ftruncate(descriptor, 0) == 0, FileManager.default.createFile(atPath: stored.labelPath, contents: label)
    else { return nil }
    return (file, stored)
  }

  /// What all of them take now, in bytes.
  var usedBytes: Int {
    entries().reduce(0) { sum, entry in
      var status = stat()
      return stat(entry.stored.bytesPath, &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }

  /// Throws away everything that nobody works with.
  func removeAll() {
    for entry in entries() { entry.stored.removeIfIdle() }
    rmdir(directory)
  }

  /// Throws away what is too old, and the oldest of what is beyond the limit.
  func tidy() { makeRoom(for: 0, sparing: "") }

  /// Throws away what is too old, then the oldest until there is room. False when there is none, since others work with
  /// the rest.
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
    /// What it will take when complete.
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

  /// Names this start of the machine; empty where the kernel does not tell.
  private static let boot: String =
    (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
    .trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
}

/// The names of one stored body.
struct StoredPartial: Sendable {
  let directory: String
  let name: String

  var bytesPath: String { "\(directory)/\(name).part" }
  var labelPath: String { "\(directory)/\(name).json" }

  /// The name that a file of the folder belongs to; nil for somebody else's file.
  static func name(ofFile file: String) -> String? {
    for suffix in [".part", ".json"] where file.hasSuffix(suffix) {
      let name = file.dropLast(suffix.count)
      return name.count == 32 && name.allSatisfy(\.isHexDigit) ? String(name) : nil
    }
    return nil
  }

  /// Whether the name still stands for that open file: another process may have thrown it away before we had the lock.
  func isSameFile(_ open: stat) -> Bool {
    var status = stat()
    return stat(bytesPath, &status) == 0 && status.st_ino == open.st_ino && status.st_dev == open.st_dev
  }

  /// Takes the names away; who has the file open goes on reading it. To be called by whoever holds the lock.
  func remove() {
    unlink(bytesPath)
    unlink(labelPath)
  }

  /// Takes the names away unless somebody works with the body.
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
