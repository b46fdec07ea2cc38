import Foundation

/// Takes a body as it arrives: in memory up to a limit, beyond that in a file without a name.
struct BodyStore {
  private var memoryLimit: Int
  /// A body that outgrows memory goes into a new file in the first of these that takes one.
  private let spillDirectories: [String]
  /// The file to outgrow memory into, where it shall not be one without a name.
  private var ownFile: FileDescriptor?
  private var memory: [UInt8] = []
  private var file: FileDescriptor?
  /// The bytes taken so far.
  private(set) var count = 0

  init(memoryLimit: Int, spillDirectories: [String]) {
    self.memoryLimit = memoryLimit
    self.spillDirectories = spillDirectories
  }

  /// Goes on behind the bytes that a file holds already.
  init(continuing file: FileDescriptor, at count: Int) {
    (memoryLimit, spillDirectories) = (0, [])
    (self.file, self.count) = (file, count)
  }

  /// Has the body go into this file, should it outgrow memory.
  mutating func spill(into file: FileDescriptor) { ownFile = file }

  /// The file, once the body has outgrown memory.
  var spilled: FileDescriptor? { file }

  /// Makes room in one piece for what is announced.
  mutating func prepare(for announced: Int?) {
    memory.reserveCapacity(min(announced ?? 0, memoryLimit))
  }

  /// Adds bytes at the end.
  mutating func append(_ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
    if file == nil && count + bytes.count <= memoryLimit {
      memory.append(contentsOf: bytes)
    } else {
      try write(bytes, to: try spillFile(), at: count)
    }
    count += bytes.count
  }

  /// Moves what is in memory to the file, where everything that comes goes from now on.
  mutating func leaveMemory() throws(DownloadError) {
    memoryLimit = 0
    if !memory.isEmpty { _ = try spillFile() }
    memory = []
  }

  /// The body so far. Nothing may be added afterwards.
  mutating func finish() -> ByteSource {
    defer { memory = [] }
    return file.map { .file($0, count: count) } ?? .memory(memory)
  }

  /// The file, to which the bytes in memory go when it is made.
  private mutating func spillFile() throws(DownloadError) -> FileDescriptor {
    if let file { return file }
    let opened: FileDescriptor
    if let ownFile { opened = ownFile } else { opened = try SpillFile.open(in: spillDirectories) }
    var failure: DownloadError?
    memory.withUnsafeBytes { bytes in
      do throws(DownloadError) { try write(bytes, to: opened, at: 0) } catch { failure = error }
    }
    if let failure { throw failure }
    file = opened
    memory = []
    return opened
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at offset: Int
  ) throws(DownloadError) {
    var written = 0
    while written < bytes.count {
      let count = pwrite(
        file.rawValue, bytes.baseAddress.map { $0 + written }, bytes.count - written, off_t(offset + written))
      if count < 0 {
        if errno == EINTR { continue }
        throw .cannotStoreBody(path: spillDirectories.first ?? "", reason: String(cString: strerror(errno)))
      }
      written += count
    }
  }
}

/// Files that nobody sees and that are gone with their last descriptor, even when the process is killed.
enum SpillFile {
  /// A new file, open for reading and writing, in the first directory that takes one.
  static func open(in directories: [String]) throws(DownloadError) -> FileDescriptor {
    var firstFailure: DownloadError?
    for directory in directories {
      do throws(SystemFailure) {
        return try FileDescriptor.unnamed(in: directory)
      } catch {
        guard firstFailure == nil else { continue }
        Log.download.debug("cannot keep bodies in \(directory): \(error.reason)")
        firstFailure = .cannotStoreBody(path: directory, reason: error.reason)
      }
    }
    throw firstFailure ?? .cannotStoreBody(path: "", reason: "no directory for large bodies")
  }
}
