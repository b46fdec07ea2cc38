/// What processes that share a cache tell each other of hosts.
@Suite(.timeLimit(.minutes(5))) struct HostFileTests {
  private let directory: TemporaryDirectory
  private let date = Date(timeIntervalSince1970: 1_800_000_000)

  init() throws { directory = try TemporaryDirectory() }

  private func file(after seconds: Double = 0) -> HostFile {
    HostFile(directory: directory.url, patience: .seconds(600)) { [date] in date + seconds }
  }

  @Test func whatOneNotesTheOtherReadsOnce() async throws {
    let (one, other) = (file(), file())
    #expect(other.news() == nil)
    await one.update(.host("http://a:80")) { [date] in $0.until = date + 5 }
    #expect(other.news()?[.host("http://a:80")]?.until == date + 5)
    #expect(other.news() == nil)
  }

  @Test func nothingIsLostWhereManyChangeOneRecord() async throws {
    let files = (0..<4).map { _ in file() }
    await withTaskGroup(of: Void.self) { group in
      for file in files {
        for _ in 0..<25 {
          group.addTask {
            await file.update(.service("commons", at: "x")) { [date] in
              $0.due = ($0.due ?? date) + 3
            }
          }
        }
      }
    }
    #expect(file().news()?[.service("commons", at: "x")]?.due == date + 300)
  }

  @Test func whatIsOverLeavesAndThereIsNoMoreThanABound() async throws {
    let early = file()
    for number in 0..<300 {
      await early.update(.host("http://\(number):80")) { [date] in $0.until = date + 10 + Double(number) }
    }
    let records = try #require(early.news())
    #expect(records.count == 256 && records[.host("http://299:80")] != nil && records[.host("http://0:80")] == nil)
    let late = file(after: 200)
    await late.update(.host("http://new:80")) { [date] in $0.until = date + 300 }
    #expect(late.news()?.keys.contains(.host("http://100:80")) == false)
  }

  @Test(arguments: ["", "\0\0"]) func whatAPowerFailureLeavesCountsAsEmpty(text: String) async throws {
    try Data(text.utf8).write(to: directory.url.appending(path: "hosts.json"))
    let file = file()
    #expect(file.news() ?? [:] == [:])
    await file.update(.host("http://a:80")) { [date] in $0.until = date + 5 }
    #expect(self.file().news()?.count == 1)
  }

  @Test(arguments: ["{}", "[1,2]", "a: b", #"{"a":"b"} // c"#, #"{"host x":"b"}"#, #"{"a b":{"strikes":1}}"#])
  func anotherProgramsFileStays(text: String) async throws {
    let place = directory.url.appending(path: "hosts.json")
    try Data(text.utf8).write(to: place)
    let file = file()
    await file.update(.host("http://a:80")) { [date] in $0.until = date + 5 }
    #expect(file.news()?.count == 1)
    HostFile.remove(in: directory.url)
    #expect(try Data(contentsOf: place) == Data(text.utf8))
  }

  @Test func aFileThatCannotBeReadStays() async throws {
    // Links that lead nowhere, and a pipe without a writer: root reads every file.
    let place = directory.url.appending(path: "hosts.json").path
    for target in ["hosts.json", "away", nil] {
      if let target { symlink(target, place) } else { mkfifo(place, 0o600) }
      let file = file()
      await file.update(.host("http://a:80")) { [date] in $0.until = date + 5 }
      HostFile.remove(in: directory.url)
      #expect(file.news()?.count == 1)
      var status = stat()
      #expect(lstat(place, &status) == 0 && status.st_mode & S_IFMT == (target == nil ? S_IFIFO : S_IFLNK))
      unlink(place)
    }
  }

  @Test func withoutAFolderItHoldsForThisProcess() async throws {
    for file in [nil, URL(fileURLWithPath: "/dev/null/none")].map({ HostFile(directory: $0) { [date] in date } }) {
      await file.update(.host("http://a:80")) { [date] in $0.until = date + 500 }
      #expect(file.news()?.count == 1)
      #expect(await file.update(.host("http://a:80")) { $0.until } != nil)
    }
  }
}
