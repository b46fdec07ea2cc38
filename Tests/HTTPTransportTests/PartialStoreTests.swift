@testable import HTTPTransport
@testable import ThumbnailCore

@Suite struct PartialStoreTests {
  private let folder: TemporaryDirectory
  private let directory: URL
  private let address = SourceKey(identity: "http://a.example/", headers: [])

  init() throws {
    folder = try TemporaryDirectory()
    directory = folder.url.appending(path: "partial")
  }

  private func name(_ number: Int) -> String { SourceKey(identity: "\(number)", headers: []).hex }
  private func store(limit: Int = 10 << 20) -> PartialStore { PartialStore(directory: directory, byteLimit: limit) }

  /// Stores the beginning of a body, as a process that was killed leaves it.
  private func leave(_ number: Int, total: Int = 2 << 20, in store: PartialStore) throws {
    let made = try #require(store.create(name(number), address: address, etag: "\"x\"", total: total))
    #expect(pwrite(made.file.rawValue, "begin", 5, 0) == 5)
  }

  private var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
  }

  @Test func givesBackWhatWasLeft() throws {
    try leave(1, in: store())
    let found = try #require(store().open(name(1)))
    #expect(
      found.count == 5 && found.version == BodyVersion(etag: "\"x\"", length: 2 << 20) && found.address == address)
    #expect(!found.isObserved)
    #expect(store().open(name(2)) == nil)
  }

  @Test func nobodyElseGetsWhatIsInHand() throws {
    try leave(1, in: store())
    let found = store().open(name(1))
    #expect(found != nil && store().open(name(1)) == nil)
    #expect(store().create(name(1), address: address, etag: "\"y\"", total: 2 << 20) == nil)
    store().removeAll()
    #expect(files.count == 2)
  }

  @Test func smallOnesAndThoseBeyondTheLimitAreNotKept() {
    #expect(store().create(name(1), address: address, etag: "\"x\"", total: 1000) == nil)
    #expect(store().create(name(1), address: address, etag: "\"x\"", total: 11 << 20) == nil)
    #expect(files.isEmpty)
  }

  @Test func theOldestMakeRoomAndTheTooOldGo() throws {
    for number in 1...4 {
      try leave(number, in: store())
      // Real time: what the store compares the times of files with. Days lie between the old and the new ones.
      var times = [
        timespec(tv_sec: 1_000_000_000 + number, tv_nsec: 0), timespec(tv_sec: time(nil) - 100 + number, tv_nsec: 0),
      ]
      if number == 2 { times[1].tv_sec -= 8 * 86_400 }
      #expect(utimensat(AT_FDCWD, "\(directory.path)/\(name(number)).part", &times, 0) == 0)
    }
    // 2 is too old; of the others, 1 has to give way to a body of 6 MiB.
    try leave(5, total: 6 << 20, in: store())
    #expect(files == [3, 4, 5].flatMap { ["\(name($0)).json", "\(name($0)).part"] }.sorted())
  }

  @Test func whatIsInUseLeavesNoRoom() throws {
    let first = try #require(store().create(name(1), address: address, etag: "\"x\"", total: 6 << 20))
    #expect(store().create(name(2), address: address, etag: "\"x\"", total: 6 << 20) == nil)
    #expect(files == ["\(name(1)).json", "\(name(1)).part"])
    withExtendedLifetime(first.file) {}
  }

  @Test func tidyingHoldsToTheLimitsOfNow() throws {
    for number in 1...3 {
      try leave(number, in: store())
      // Real time: what the store compares the times of files with. Days lie between the old and the new ones.
      var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: time(nil) - 100 + number, tv_nsec: 0)]
      if number == 3 { times[1].tv_sec -= 8 * 86_400 }
      #expect(utimensat(AT_FDCWD, "\(directory.path)/\(name(number)).part", &times, 0) == 0)
    }
    store().tidy()
    #expect(files == [1, 2].flatMap { ["\(name($0)).json", "\(name($0)).part"] }.sorted())
    store(limit: 3 << 20).tidy()
    #expect(files == ["\(name(2)).json", "\(name(2)).part"])
  }

  @Test func whatCannotBeTrustedIsThrownAway() throws {
    let damages: [(String) throws -> Void] = [
      { try Data("{}".utf8).write(to: URL(fileURLWithPath: "\($0).json")) },
      { try FileManager.default.removeItem(atPath: "\($0).json") },
      { try Data(count: 3 << 20).write(to: URL(fileURLWithPath: "\($0).part")) },
      { try Data().write(to: URL(fileURLWithPath: "\($0).part")) },
      { path in
        let label = try String(contentsOfFile: "\(path).json", encoding: .utf8)
        try label.replacing("\(2 << 20)", with: "\(Int.min)").write(
          toFile: "\(path).json", atomically: true, encoding: .utf8)
      },
      { path in
        let label = try String(contentsOfFile: "\(path).json", encoding: .utf8)
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        try label.replacing(boot.prefix(36), with: "another start").write(
          toFile: "\(path).json", atomically: true, encoding: .utf8)
      },
    ]
    for (number, damage) in damages.enumerated() {
      try leave(number, in: store())
      try damage("\(directory.path)/\(name(number))")
      #expect(store().open(name(number)) == nil, "damage \(number)")
      #expect(files.isEmpty, "damage \(number)")
    }
  }

  @Test func otherPeoplesFilesStay() throws {
    try leave(1, in: store())
    let mine = ["note.part", "\(name(2)).json", "\(name(3)).json", "\(name(3)).part", "\(name(4)).part"].sorted()
    for file in mine { try Data("{}".utf8).write(to: directory.appending(path: file)) }
    store(limit: 0).tidy()
    #expect(files == mine)
    store().removeAll()
    #expect(files == mine)
  }

  @Test func aFolderThatCannotBeMadeKeepsNothing() throws {
    try Data().write(to: directory)
    #expect(store().create(name(1), address: address, etag: "\"x\"", total: 2 << 20) == nil)
    #expect(store().open(name(1)) == nil)
  }
}

extension PartialStore {
  /// A new file with its label, as a transfer makes it; nil when it is not kept.
  fileprivate func create(_ name: String, address: SourceKey, etag: String, total: Int) -> StoredPartial? {
    guard accepts(total: total), let opened = openFile(name),
      label(opened, address: address, version: BodyVersion(etag: etag, length: total))
    else { return nil }
    return opened
  }
}
