@testable import ThumbnailCore

@Suite struct FileSystemTests {
  private let mounts = """
    22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
    30 22 0:40 / /home rw - nfs4 server:/home rw
    31 22 0:41 / /home/ann/my\\040disk rw - fuse.sshfs ann@host: rw
    32 22 0:42 / /home/ann rw - btrfs /dev/sdb rw
    """

  @Test(
    arguments: [
      ("/var/cache", "ext4", false), ("/home", "nfs4", true), ("/homes", "ext4", false),
      ("/home/ann/x", "btrfs", false),
      ("/home/ann/my disk/x", "fuse.sshfs", true),
    ])
  func theInnermostMountCounts(path: String, kind: String, isShared: Bool) {
    let found = FileSystem(kind: FileSystem.kind(of: path, mounts: mounts), freeBytes: nil)
    #expect(found.kind == kind && found.isShared == isShared)
  }

  @Test(
    arguments: [
      (1, 5, 10, 100.2, 0, true), (1, 6, 10, 100.2, 1, false), (1, 6, 10, 100.2, 0, true), (1, 6, 11, 100.2, 0, false),
      (1, 6, 10, 102.3, 0, false), (2, 5, 10, 100.2, 1, true), (2, 6, 10, 98.5, 1, true), (2, 6, 10, 102.3, 1, false),
      (2, 6, 11, 100.2, 1, false), (2, 6, 10, -9e9, 1, false),
    ] as [(UInt, UInt, Int, Double, Int, Bool)])
  func aFileMayBeSeenByAnotherMountOrPath(
    device: UInt, inode: UInt, bytes: Int, time: Double, change: Int, same: Bool
  ) {
    func file(_ device: UInt, _ inode: UInt, _ bytes: Int, _ time: Double, _ change: Int) -> FileState {
      var status = stat()
      (status.st_dev, status.st_ino, status.st_size, status.st_mode) = (device, inode, bytes, S_IFREG)
      status.st_mtim = timespec(tv_sec: Int(time), tv_nsec: Int((time - time.rounded(.down)) * 1e9))
      status.st_ctim = timespec(tv_sec: 100, tv_nsec: change)
      return FileState(status)
    }
    #expect(file(1, 5, 10, 100.2, 0).mayBeSameFile(as: file(device, inode, bytes, time, change)) == same)
  }

  @Test func thisMachineTells() {
    let found = FileSystem(at: "/")
    #expect(found.kind != nil && found.freeBytes ?? 0 > 0)
  }
}

@Suite struct FileStateTests {
  @Test func noTimeAndNoLengthOverflows() {
    var status = stat()
    (status.st_mtim.tv_sec, status.st_size) = (1 << 40, .max)
    // As ext4 may have it on a disk.
    status.st_mtim.tv_nsec = 1 << 30 - 1
    let state = FileState(status)
    #expect(state.modificationTime.tv_nsec == 999_999_999)
    #expect(state.modificationTime.tv_sec == 1 << 40 && state.modified != 0 && state.byteCount == FileState.longest)
  }

  @Test(arguments: [(2.5, 3), (-2.5, -3), (1e300, 1 << 31), (-.infinity, -1 << 31), (.nan, 0)])
  func aFractionBecomesTheNearestNumber(fraction: Double, number: Int) {
    #expect(Int(bounded: fraction) == number)
  }
}

@Suite struct KernelFileTests {
  @Test func aFileThatArrivesInPiecesIsReadToItsEnd() throws {
    // The mapped files of this process, a line each, in several pieces of at most 4 KiB. The stack is near the end.
    let text = try #require(KernelFile.text("/proc/self/maps"))
    #expect(text.utf8.count > 8192 && text.contains("[stack]"))
    #expect(KernelFile.text("/proc/self/no such file") == nil)
  }
}

@Suite struct RawPathTests {
  @Test(arguments: [
    ("a%20b", "a b"), ("%41%62", "Ab"), ("100%", "100%"), ("a%4", "a%4"), ("%+1", "%+1"), ("%zz", "%zz"),
    ("%%41", "%A"), ("", ""),
  ])
  func onlyTwoHexadecimalDigitsStandForAByte(text: String, expected: String) {
    #expect(RawPath(percentEncoded: text).bytes == Array(expected.utf8))
  }

  @Test func aPathIsResolvedAsFarAsItIsThere() throws {
    let folder = try TemporaryDirectory()
    let there = try #require(RawPath(folder.url.path).resolved)
    try FileManager.default.createSymbolicLink(atPath: folder.url.path + "/link", withDestinationPath: ".")
    #expect(RawPath("\(folder.url.path)/link/none/new/").resolvedWhereThere == there.appending("none/new".utf8))
    #expect(RawPath("none").resolvedWhereThere == RawPath(".").resolved?.appending("none".utf8))
  }
}

struct FileDescriptorTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.url.path + "/file" }

  init() throws {
    folder = try TemporaryDirectory()
    try Data().write(to: URL(fileURLWithPath: path))
  }

  private func opened() throws -> FileDescriptor {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    try #require(descriptor >= 0)
    return FileDescriptor(owning: descriptor)
  }

  @Test func oneAtATimeHasTheLock() throws {
    let first = try opened()
    let second = try opened()
    #expect(first.lock() && first.lock() && !second.lock())
    withExtendedLifetime(first) {}
  }

  @Test func theLockGoesWithItsOwnerThoughAChildHasACopyOfTheDescriptor() throws {
    var first: FileDescriptor? = try opened()
    #expect(first?.lock() == true)
    // As a child has it between its start and its becoming another program.
    let copy = dup(try #require(first).rawValue)
    defer { close(copy) }
    first = nil
    #expect(try opened().lock())
  }
}
