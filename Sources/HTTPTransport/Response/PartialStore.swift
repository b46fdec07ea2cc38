package import Foundation
import ThumbnailCore

/// Keeps partial large bodies on disk, so that a later run can resume them.
///
/// The folder has pairs of files: `NAME.part` holds the bytes, `NAME.json` a label that describes them. A process that
/// uses a pair locks `NAME.part`, so several processes may share the folder. Files from before the last boot are not
/// used: after a power failure a file can be longer than what was really written.
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

  /// `byteLimit` bounds the total of the complete lengths of all bodies, in bytes. The folder is created with the first
  /// body.
  package init(directory: URL, byteLimit: Int) {
    self.directory = directory.path
    self.byteLimit = byteLimit
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

  /// Whether there is a file of a download. Takes one system call and reads no file.
  func exists(_ name: String) -> Bool { access(names(of: name).bytesPath, F_OK) == 0 }

  /// The partial body of a download, if it can be resumed and is not in use.
  func open(_ name: String) -> PartialBody? {
    let names = names(of: name)
    guard let file = names.open(O_RDWR), file.lock() else { return nil }
    let stored = StoredPartial(names: names, file: file)
    guard let state = stored.state, let label = label(of: names), label.boot == Self.boot, label.address.count == 16,
      state.byteCount > 0, state.byteCount < label.total, label.total <= byteLimit
    else {
      names.remove()
      return nil
    }
    return PartialBody(
      file: file, count: state.byteCount, version: BodyVersion(etag: label.etag, length: label.total),
      address: SourceKey(bytes: label.address), stored: stored, isObserved: false)
  }

  private func names(of name: String) -> PartialNames { PartialNames(directory: directory, name: name) }

  private func label(of names: PartialNames) -> Label? {
    let bytes = FileManager.default.contents(atPath: names.labelPath)
    let label = bytes.flatMap { try? JSONDecoder().decode(Label.self, from: $0) }
    return label.flatMap { (1...FileState.longest).contains($0.total) ? $0 : nil }
  }

  /// Whether a body of `total` bytes should be kept.
  func accepts(total: Int) -> Bool { total >= Self.leastTotal && total <= byteLimit && Self.boot != "" }

  /// Creates or truncates the file of a body, which is unusable until it is labelled. Nil if another process uses it.
  /// As fast as opening any new file.
  func openFile(_ name: String) -> StoredPartial? {
    let names = names(of: name)
    mkdir(directory, 0o700)
    guard let file = names.open(O_RDWR | O_CREAT) else { return nil }
    let stored = StoredPartial(names: names, file: file)
    guard file.lock() else {
      // The file system has no locks. Removes the file that was just created.
      if errno != EWOULDBLOCK, stored.state?.byteCount == 0 { names.remove() }
      return nil
    }
    guard stored.state != nil else { return nil }
    guard ftruncate(file.rawValue, 0) == 0 else {
      names.remove()
      return nil
    }
    // The old label describes the bytes of an earlier body.
    unlink(names.labelPath)
    return stored
  }

  /// Labels a new file, so that it can be resumed. If the files in use leave no room for it, it is unlinked. Returns
  /// whether it is kept.
  @discardableResult
  func label(_ stored: StoredPartial, address: SourceKey, version: BodyVersion) -> Bool {
    let label = Label(address: address.bytes, etag: version.etag, total: version.length, boot: Self.boot)
    guard makeRoom(for: version.length, sparing: stored.names.name), let bytes = try? JSONEncoder().encode(label),
      stored.state != nil, stored.names.setLabel(bytes)
    else {
      stored.remove()
      return false
    }
    return true
  }

  /// The total size of all files, in bytes.
  package var usedBytes: Int {
    entries().reduce(0) { sum, entry in
      sum + ((try? FileState(of: RawPath(entry.names.bytesPath)))?.byteCount ?? 0)
    }
  }

  /// Deletes all files that are not in use.
  package func removeAll() {
    for entry in entries() { entry.names.removeIfIdle() }
    rmdir(directory)
  }

  /// Deletes files that are too old, then the oldest beyond the limit.
  package func tidy() { makeRoom(for: 0, sparing: "") }

  /// Deletes files that are too old, then the oldest until there is room. False if the files in use leave no room.
  @discardableResult
  private func makeRoom(for total: Int, sparing name: String) -> Bool {
    let now = Date().timeIntervalSince1970
    var kept = entries().filter { $0.names.name != name }.sorted { $0.modified < $1.modified }
    kept.removeAll { now - $0.modified > Self.longestAge && $0.names.removeIfIdle() }
    var used = kept.reduce(0) { $0 + $1.total }
    for entry in kept where used + total > byteLimit {
      if entry.names.removeIfIdle() { used -= entry.total }
    }
    return used + total <= byteLimit
  }

  /// The names of all bodies, their modification times in seconds since 1970, and their complete lengths.
  private func entries() -> [(names: PartialNames, modified: TimeInterval, total: Int)] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return Set(files.compactMap { PartialNames.name(ofFile: $0) }).compactMap { name in
      let names = names(of: name)
      // Without a label it may be another program's.
      guard let label = label(of: names) else { return nil }
      let states = [names.bytesPath, names.labelPath].compactMap { try? FileState(of: RawPath($0)) }
      return (names, Double(states.first?.modified ?? 0) / 1e9, max(label.total, states.first?.byteCount ?? 0))
    }
  }

  /// Identifies the current boot; empty if the kernel does not report it.
  private static let boot: String =
    (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
    .trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
}

/// The file names of one stored body.
struct PartialNames: Sendable {
  let directory: String
  let name: String

  var bytesPath: String { "\(directory)/\(name).part" }
  var labelPath: String { "\(directory)/\(name).json" }

  /// The name of the body to which a file belongs; nil for an unrelated file.
  static func name(ofFile file: String) -> String? {
    for suffix in [".part", ".json"] where file.hasSuffix(suffix) {
      let name = file.dropLast(suffix.count)
      return name.count == 32 && name.allSatisfy(\.isHexDigit) ? String(name) : nil
    }
    return nil
  }

  /// Opens the file of the bytes. A new file is readable by its user only.
  func open(_ flags: Int32) -> FileDescriptor? {
    let descriptor = Foundation.open(bytesPath, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
    return descriptor < 0 ? nil : FileDescriptor(owning: descriptor)
  }

  /// Writes the label, readable by its user only. False if it cannot be written.
  func setLabel(_ label: Data) -> Bool {
    do throws(SystemFailure) {
      var file = try NewFile(RawPath(labelPath), permissions: 0o600)
      try file.write(label)
      return try file.commit()
    } catch {
      return false
    }
  }

  /// Unlinks the files. Open descriptors stay valid. The caller must hold the lock.
  func remove() {
    unlink(bytesPath)
    unlink(labelPath)
  }

  /// Unlinks the files unless the body is in use.
  @discardableResult
  func removeIfIdle() -> Bool {
    let file = open(O_RDONLY)
    guard file?.lock() != false else { return false }
    withExtendedLifetime(file) { remove() }
    return true
  }
}

/// A stored body in use: its names, and its open file with the lock.
struct StoredPartial: Sendable {
  let names: PartialNames
  let file: FileDescriptor

  /// The state of the file; nil if another process has unlinked it, so that its name leads to another file or none.
  var state: FileState? {
    guard let state = try? FileState(ofOpen: file), let named = try? FileState(of: RawPath(names.bytesPath))
    else { return nil }
    return state.isSameFile(as: named) ? state : nil
  }

  /// Unlinks the files, unless their names lead to other files.
  func remove() { if state != nil { names.remove() } }
}
