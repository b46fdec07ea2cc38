@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct NewFileTests {
  private let directory: TemporaryDirectory
  private var name: RawPath { RawPath(directory.url.appendingPathComponent("a.txt").path) }
  private var temporary: RawPath { RawPath(directory.url.appendingPathComponent("a.tmp").path) }

  init() throws { directory = try TemporaryDirectory() }

  private func content() throws -> String { try String(contentsOfFile: name.description, encoding: .utf8) }
  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
  }

  /// A file with or without a temporary name.
  private func make(named: Bool) throws -> NewFile {
    named ? try NewFile(name, temporary: temporary) : try NewFile(name)
  }

  @Test(arguments: [true, false]) func hasItsNameOnlyOnceItIsWhole(named: Bool) throws {
    var file = try make(named: named)
    try file.write(Data("whole".utf8))
    #expect(try !names().contains("a.txt"))
    let isNamed = try file.commit()
    #expect(try isNamed && names() == ["a.txt"] && content() == "whole")
  }

  @Test(arguments: [true, false]) func replacesAnotherFileOnlyWhereAsked(named: Bool) throws {
    try Data("old".utf8).write(to: URL(fileURLWithPath: name.description))
    for (replacing, expected) in [(false, "old"), (true, "new")] {
      var file = try make(named: named)
      try file.write(Data("new".utf8))
      let isNamed = try file.commit(replacing: replacing)
      #expect(try isNamed == replacing && content() == expected)
    }
    #expect(try names() == ["a.txt"])
  }

  @Test(arguments: [true, false]) func whatIsDroppedLeavesNothing(named: Bool) throws {
    do {
      let file = try make(named: named)
      try file.write(Data("half".utf8))
    }
    #expect(try names().isEmpty)
  }

  @Test(arguments: [true, false]) func aFolderInItsPlaceFailsAndStays(named: Bool) throws {
    try FileManager.default.createDirectory(atPath: name.description, withIntermediateDirectories: true)
    #expect(throws: SystemFailure(code: EISDIR)) {
      var file = try make(named: named)
      try file.commit()
    }
    #expect(try names() == ["a.txt"])
  }

  @Test func takesThePlaceOfAHalfWrittenOne() throws {
    try Data("left by a killed process".utf8).write(to: URL(fileURLWithPath: temporary.description))
    var file = try make(named: true)
    try file.write(Data("new".utf8))
    try file.commit()
    #expect(try names() == ["a.txt"] && content() == "new")
  }

  @Test(arguments: [true, false]) func hasThePermissionsAndTimesThatWereAsked(named: Bool) throws {
    var file = try make(named: named)
    try file.setPermissions(0o640)
    let (accessed, modified) = (timespec(tv_sec: -1, tv_nsec: 999_999_999), timespec(tv_sec: 1, tv_nsec: 500_000_000))
    try file.setTimes(accessed: accessed, modified: modified)
    try file.commit()
    let state = try FileState(of: name)
    #expect(state.permissions == 0o640 && state.modified == 1_500_000_000)
    #expect(state.accessTime.tv_sec == -1 && state.accessTime.tv_nsec == 999_999_999)
  }

  @Test(arguments: [true, false]) func aFileThatCameMeanwhileStays(named: Bool) async throws {
    try Data("old".utf8).write(to: URL(fileURLWithPath: name.description))
    let old = try FileState(of: name)
    try FileManager.default.removeItem(atPath: name.description)
    try Data("somebody's".utf8).write(to: URL(fileURLWithPath: name.description))
    do {
      var file = try NewFile(name, isNamed: named)
      try file.write(Data("new".utf8))
      #expect(try !file.commit(over: old) && !file.commit(over: nil))
      // As servers lend files to clients. Who wants to open it is announced by F_SETSIG's signal.
      let lent = try FileHandle(forUpdating: URL(fileURLWithPath: name.description))
      for (setting, value) in [(10, SIGURG), (1024, F_WRLCK)] { _ = fcntl(lent.fileDescriptor, Int32(setting), value) }
      #expect(try !file.commit(over: FileState(of: name)))
      try lent.close()
    }
    #expect(try names() == ["a.txt"] && content() == "somebody's")
    let root = try RootFolder(RawPath(directory.url.path))
    #expect(throws: SystemFailure(code: EEXIST)) { try root.remove(Array("a.txt".utf8), if: old) }
    #expect(try names() == ["a.txt"] && content() == "somebody's")
    do {
      var file = try NewFile(name, isNamed: named)
      try file.write(Data("new".utf8))
      #expect(try file.commit(over: try FileState(of: name)) && names() == ["a.txt"] && content() == "new")
      // Still open for writing here.
      #expect(throws: SystemFailure(code: EEXIST)) { try root.remove(Array("a.txt".utf8), if: FileState(of: name)) }
    }
    #expect(await isRemoved(in: root))
    #expect(try names().isEmpty)
  }

  /// A process that another test starts may have the file open for writing for a moment.
  private func isRemoved(in root: RootFolder) async -> Bool {
    await eventually { (try? root.remove(Array("a.txt".utf8), if: FileState(of: name))) != nil }
  }

  @Test func filesAreNamedAndRemovedWhereCallsAreMissingAndNamesNumberFiles() async throws {
    try await Rclone.$isMocked.withValue(true) {
      for (text, isNew) in [("first", true), ("again", false)] {
        var file = try NewFile(name, isNamed: true)
        try file.write(Data(text.utf8))
        #expect(try file.commit(replacing: false) == isNew && content() == "first")
      }
      let (root, first) = (try RootFolder(RawPath(directory.url.path)), try FileState(of: name))
      try Data("other".utf8).write(to: URL(fileURLWithPath: name.description))
      #expect(throws: SystemFailure(code: EEXIST)) { try root.remove(Array("a.txt".utf8), if: first) }
      #expect(await isRemoved(in: root))
      #expect(try names().isEmpty)
    }
  }
}

/// A file system as rclone's: it lacks two calls, and what is renamed has another inode (than `stat` reports).
private enum Rclone { @TaskLocal static var isMocked = false }

/// A call of the C library, which the functions below stand before. Words hold all kinds of its arguments.
private func call(_ name: String, _ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int) -> Int32 {
  typealias Call = @convention(c) (Int, Int, Int, Int, Int) -> Int32
  return unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: -1), name), to: Call.self)(a, b, c, d, e)
}

@_cdecl("renameat2") func mockedRename(_ at: Int, _ name: Int, _ other: Int, _ new: Int, _ flags: Int) -> Int32 {
  if Rclone.isMocked { errno = EINVAL }
  return Rclone.isMocked ? -1 : call("renameat2", at, name, other, new, flags)
}

@_cdecl("linkat") func mockedLink(_ at: Int, _ name: Int, _ other: Int, _ new: Int, _ flags: Int) -> Int32 {
  if Rclone.isMocked { errno = EIO }
  return Rclone.isMocked ? -1 : call("linkat", at, name, other, new, flags)
}

@_cdecl("fstatat") func mockedState(_ at: Int, _ name: Int, _ state: UnsafeMutablePointer<stat>, _ how: Int) -> Int32 {
  defer { if Rclone.isMocked { state.pointee.st_ino &+= 1 } }
  return call("fstatat", at, name, Int(bitPattern: state), how, 0)
}
