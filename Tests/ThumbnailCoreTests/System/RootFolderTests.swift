@testable import ThumbnailCore

@Suite struct RootFolderTests {
  private let directory: TemporaryDirectory
  private let root: RootFolder

  /// A folder with `x/y/file`, links to itself, to a file and to its parent, and a file beside it.
  init() throws {
    directory = try TemporaryDirectory()
    let files = FileManager.default
    try files.createDirectory(at: directory.url.appendingPathComponent("root/x/y"), withIntermediateDirectories: true)
    for name in ["outside", "root/file", "root/x/y/file"] {
      try Data(name.utf8).write(to: directory.url.appendingPathComponent(name))
    }
    for (name, target) in [("root/self", "."), ("root/x/up", ".."), ("root/link", "file"), ("root/out", "../outside")] {
      try files.createSymbolicLink(atPath: directory.url.appendingPathComponent(name).path, withDestinationPath: target)
    }
    root = try RootFolder(RawPath(directory.url.appendingPathComponent("root").path))
  }

  private func code(_ body: () throws -> Void) -> Int32? {
    do { try body() } catch { return (error as? SystemFailure)?.code }
    return nil
  }

  @Test(
    arguments: [
      ("file", nil), ("x/y/file", nil), ("x//y/file", nil), ("x/y/none", ENOENT), ("none/file", ENOENT),
      ("self/file", ELOOP), ("x/up/file", ELOOP), ("x/y/../y/file", EINVAL), ("../outside", EINVAL),
      ("x/./y/file", EINVAL),
      ("link", ELOOP), ("out", ELOOP), ("file/file", ENOTDIR), ("", EINVAL), ("x/", EINVAL), ("fi\0le", EINVAL),
      (String(repeating: "n", count: 256), ENAMETOOLONG),
    ] as [(String, Int32?)])
  func aPathIsResolvedBeneathWithoutLinks(path: String, expected: Int32?) {
    #expect(code { _ = try root.file(Array(path.utf8)) } == expected)
  }

  @Test func aMovedFolderIsStillTheOneThatWasOpened() throws {
    let moved = directory.url.appendingPathComponent("moved")
    try FileManager.default.moveItem(at: directory.url.appendingPathComponent("root"), to: moved)
    try FileManager.default.createSymbolicLink(
      atPath: directory.url.appendingPathComponent("root").path, withDestinationPath: "/")
    #expect(root.bytes(of: Array("x/y/file".utf8), atMost: 100) == Array("root/x/y/file".utf8))
    try root.remove(Array("x/y/file".utf8))
    root.removeEmptyFolders(of: Array("x/y/file".utf8))
    #expect(!FileManager.default.fileExists(atPath: moved.path + "/x/y"))
    #expect(FileManager.default.fileExists(atPath: moved.path + "/x"))
  }

  @Test func whatMayHideOthersInAPoolIsNotReplacedOrRemoved() throws {
    let outside = RawPath(directory.url.appendingPathComponent("outside").path)
    typealias Function =
      @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32) -> Int32
    let setAttribute = unsafeBitCast(try #require(dlsym(nil, "setxattr")), to: Function.self)
    let (name, input) = (Array("file".utf8), try FileState(of: outside))
    let new = try RootFolder.newFile(name, in: root.folder([]))
    // As mergerfs has them: those of all its disks.
    for (paths, isInput, expected) in [
      ("\(root.path)/file\0\(outside)", true, EBUSY), ("\(root.path)/file\0\(outside)", false, EEXIST),
      ("\(outside)", true, EBUSY), ("\(outside)", false, nil),
    ] as [(String, Bool, Int32?)] {
      try Data("file".utf8).write(to: directory.url.appendingPathComponent("root/file"))
      let (bytes, there) = (Array(paths.utf8), root.state(of: name))
      let status = setAttribute("\(root.path)/file", "user.mergerfs.allpaths", bytes, bytes.count, 0)
      try #require(status == 0, "the file system has no attributes of users")
      #expect(
        code { _ = try root.replaced(name, by: new, isInput: { isInput && $0.isSameFile(as: input) }) { _ in true } }
          == expected)
      #expect(code { try root.remove(name, if: there) } == (paths.contains("\0") ? EEXIST : nil))
    }
  }

  @Test func removingALinkLeavesItsTarget() throws {
    try root.remove(Array("out".utf8))
    #expect(FileManager.default.fileExists(atPath: directory.url.appendingPathComponent("outside").path))
    #expect(code { try root.remove(Array("x/y".utf8)) } == EISDIR)
  }
}
