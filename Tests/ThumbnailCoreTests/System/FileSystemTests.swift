import Testing

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

  @Test func thisMachineTells() {
    let found = FileSystem(at: "/")
    #expect(found.kind != nil && found.freeBytes ?? 0 > 0)
  }
}
