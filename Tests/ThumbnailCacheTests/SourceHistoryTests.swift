@testable import HTTPSemantics
@testable import TestSupport
@testable import ThumbnailCache
@testable import ThumbnailCore

/// What is kept of a picture besides its thumbnails, in the database and before it is there.
@Suite(.timeLimit(.minutes(5))) struct SourceHistoryTests {
  private let directory: CacheDirectory
  private let source = Sample.source(1).key

  init() throws { directory = try CacheDirectory() }

  private func open() throws -> DiskCache { try DiskCache(directory: directory.url, byteLimit: 64 << 20) }

  private func answer(_ number: Int, etag: String = "\"a\"", confirmed: Double = 1000) -> StoredResponse {
    var metadata = ResponseMetadata([HTTPHeader("Cache-Control", "max-age=60"), HTTPHeader("Vary", "Accept")])
    metadata.etag = etag
    let confirmed = Date(timeIntervalSince1970: confirmed)
    return StoredResponse(
      url: Sample.source(number).key, address: Sample.source(100 + number).key, metadata: metadata, length: 7,
      freshness: Freshness(confirmed: confirmed, expires: confirmed.addingTimeInterval(60)))
  }

  private func record(_ answer: StoredResponse?) -> SourceRecord {
    var record = Sample.record(1)
    record.response = answer
    return record
  }

  private func confirm(_ response: StoredResponse, insteadOf earlier: StoredResponse, in cache: DiskCache) throws {
    try cache.commits.stage(
      .change { [source] db, _ in
        try HistoryTable.confirm(response, insteadOf: earlier.metadata, of: source, in: db)
      })
  }

  private func failure(_ number: Int = 1) -> RememberedFailure {
    RememberedFailure(
      url: Sample.source(number).key, code: "not-found", reason: "gone", limits: .init(bytes: 1, pixels: 2, memory: 3),
      noted: Date(timeIntervalSince1970: 1000), until: Date(timeIntervalSince1970: 2000))
  }

  @Test func whatAServerSaidIsKeptForEachURLAndLeavesWithTheThumbnails() async throws {
    let cache = try open()
    try await cache.store([Sample.entry(1)], of: record(answer(1)))
    try await cache.store([Sample.entry(2, side: 200)], of: record(answer(2, etag: "\"b\"", confirmed: 1001)))
    try await cache.flush()
    let notes = try cache.history(of: source)
    #expect(notes.responses == [answer(2, etag: "\"b\"", confirmed: 1001), answer(1)])
    #expect(notes.freshness(by: ReuseRule()) == answer(2, confirmed: 1001).freshness)
    try await cache.remove(source)
    #expect(try cache.history(of: source) == SourceHistory())
    #expect(try cache.onWriter { try Int.fetchOne($0, sql: "SELECT count(*) FROM freshness") } == 0)
  }

  @Test func whatWasMadeOfAThumbnailIsNotKeptOnceThePictureHasLeft() async throws {
    let cache = try open()
    var record = record(nil)
    record.fetchedAt = nil
    // Nobody would know any more for how long it holds.
    try await cache.store([Sample.entry(1)], of: record)
    try await cache.flush()
    #expect(try cache.thumbnail(for: Sample.key(1)) == nil)
    #expect(try cache.statistics().sources == 0)
    try await cache.store([Sample.entry(1)], of: self.record(answer(1)))
    try await cache.store([Sample.entry(2, side: 200)], of: record)
    try await cache.flush()
    #expect(try cache.variants(of: source).count == 2)
    #expect(try cache.history(of: source).responses == [answer(1)])
  }

  @Test func onlyTheLastURLsOfAPictureAreKept() async throws {
    let cache = try open()
    for number in 1...9 {
      try await cache.store(
        [Sample.entry(1, side: 100 + number)], of: record(answer(number, confirmed: 1000 + Double(number))))
    }
    try await cache.flush()
    #expect(try cache.history(of: source).responses.map(\.url) == [9, 8, 7, 6].map { Sample.source($0).key })
  }

  @Test func theWordOfAnyURLThatHoldsIsGoodForThePicture() {
    var notes = SourceHistory(responses: [answer(1)])
    // One that a clock ahead of ours has dated, and one of long ago.
    for (number, (confirmed, expires)) in [(9000.0, 99_001.0), (0, 99_000)].enumerated() {
      var other = answer(2 + number)
      other.freshness = Freshness(
        confirmed: Date(timeIntervalSince1970: confirmed), expires: Date(timeIntervalSince1970: expires))
      notes.put(other)
    }
    for mode in [CacheMode.standard, .maximumAge(.seconds(100)), .refresh] {
      let clock = WallClock()
      clock.advance(by: 990 - clock.now.timeIntervalSince1970)
      let rule = ReuseRule(mode, now: { clock.now })
      clock.advance(by: 60)
      #expect(rule.admits(notes.freshness(by: rule)), "\(mode)")
      #expect(!rule.admits(SourceHistory().freshness(by: rule)))
    }
  }

  @Test func whatAClockAheadOfOursHasDatedLeavesFirst() async throws {
    let cache = try open()
    for number in 1...SourceHistory.longest {
      try await cache.store(
        [Sample.entry(1, side: 100 + number)], of: record(answer(number, confirmed: 1e9 + Double(number))))
    }
    try await cache.store([Sample.entry(1)], of: record(answer(9)))
    try await cache.flush()
    #expect(try cache.history(of: source).responses.map(\.url) == [4, 3, 2, 9].map { Sample.source($0).key })
  }

  @Test func aConfirmationDoesNotTouchWhatAnotherProcessHasStoredSince() async throws {
    let cache = try open()
    let other = try open()
    try await cache.store([Sample.entry(1)], of: record(answer(1)))
    try await cache.flush()
    try other.replace(by: [Sample.entry(2)], of: record(answer(1, etag: "\"b\"", confirmed: 1001)))
    try await other.flush()
    try confirm(answer(1, confirmed: 1002), insteadOf: answer(1), in: cache)
    try await cache.flush()
    #expect(try cache.history(of: source).responses == [answer(1, etag: "\"b\"", confirmed: 1001)])
    try confirm(answer(1, etag: "\"b\"", confirmed: 1003), insteadOf: answer(1, etag: "\"b\""), in: cache)
    try await cache.flush()
    #expect(try other.history(of: source).responses == [answer(1, etag: "\"b\"", confirmed: 1003)])
  }

  @Test func aChangedPictureTakesThePlaceOfAllItsThumbnails() async throws {
    let cache = try open()
    try await cache.store([Sample.entry(1, side: 400), Sample.entry(2, side: 200)], of: record(answer(1)))
    try await cache.flush()
    try cache.replace(by: [Sample.entry(3, side: 200)], of: record(answer(2)))
    // At once, and once it is written.
    for _ in 0..<2 {
      #expect(try cache.thumbnail(for: Sample.key(1, side: 400)) == nil)
      #expect(try cache.thumbnail(for: Sample.key(1, side: 200)) == Sample.thumbnail(3, side: 200))
      #expect(try cache.variants(of: source) == [Sample.variant(200)])
      try await cache.flush()
    }
    #expect(try cache.history(of: source).responses == [answer(2)])
  }

  @Test func failuresAreKeptForEachURLAndBounded() async throws {
    let cache = try DiskCache(directory: directory.url, byteLimit: 1 << 20)
    try cache.note(failure(), of: source)
    try await cache.flush()
    #expect(try cache.history(of: source).failures == [failure()])
    #expect(failure().isValid(at: Date(timeIntervalSince1970: 1500)))
    // Not before it happened, and not for ever.
    for now in [990.0, 2000] { #expect(!failure().isValid(at: Date(timeIntervalSince1970: now))) }
    for number in 2...200 { try cache.note(failure(number), of: Sample.source(number).key) }
    try await cache.flush()
    #expect(try cache.onWriter { try Int.fetchOne($0, sql: "SELECT count(*) FROM failure") } == 64)
    #expect(try cache.history(of: source).failures.isEmpty)
    try cache.commits.stage(
      .change { db, _ in
        let key = Sample.source(200).key
        try HistoryTable.removeFailures(of: key, url: key, in: db)
      })
    try await cache.flush()
    #expect(try cache.history(of: Sample.source(200).key).failures.isEmpty)
  }

  @Test func theTablesMoveAlongWhenTheFileIsMadeSmaller() async throws {
    let cache = try open()
    for number in 0..<100 {
      var record = Sample.record(number)
      record.response = answer(1)
      try await cache.store([Sample.entry(number)], of: record)
    }
    try cache.note(failure(), of: source)
    try await cache.flush()
    try await cache.setByteLimit(120_000)
    #expect(try cache.history(of: Sample.source(99).key).responses == [answer(1)])
    #expect(try cache.history(of: Sample.source(0).key).responses.isEmpty)
    #expect(try cache.history(of: source).failures == [failure()])
  }

  @Test func rowsThatMakeNoSenseCountAsNotThere() async throws {
    let cache = try open()
    try await cache.store([Sample.entry(1)], of: record(answer(1)))
    try cache.note(failure(), of: source)
    try await cache.flush()
    try directory.execute("UPDATE freshness SET url = x''; UPDATE failure SET url = x'00'")
    let notes = try cache.history(of: source)
    #expect(notes.responses.map(\.url) == [nil] && notes.failures.isEmpty)
    // Dates that no calendar tells.
    for date in ["1e300", "9e999", "-1e15"] {
      try cache.note(failure(), of: source)
      try await cache.flush()
      try directory.execute("UPDATE failure SET until = \(date); UPDATE freshness SET expires_at = \(date)")
      let notes = try cache.history(of: source)
      #expect(notes.responses.map(\.url) == [nil] && notes.failures.isEmpty, "\(date)")
    }
  }

  @Test func whatThisProcessLearnedIsKnownBeforeItIsWritten() {
    let recent = RecentHistory(capacity: 1)
    recent.change(source) { [answer = answer(1, confirmed: 1001)] in $0.put(answer) }
    let stored = SourceHistory(responses: [answer(1)])
    #expect(stored.merged(with: recent[source]).responses == [answer(1, confirmed: 1001)])
    let newer = SourceHistory(responses: [answer(1, confirmed: 1002)])
    #expect(newer.merged(with: recent[source]).responses == [answer(1, confirmed: 1002)])
    for number in 2...5 { recent.change(Sample.source(number).key) { $0 = SourceHistory() } }
    #expect(recent[source] == nil && recent[Sample.source(5).key] != nil)
  }

  @Test func ofAPictureWithManyURLsABoundedNumberIsKnown() {
    var notes = SourceHistory()
    for number in 1...100 {
      notes.put(answer(number))
      notes.put(failure(number))
    }
    #expect(notes.responses.map(\.url) == [100, 99, 98, 97].map { Sample.source($0).key })
    #expect(notes.failures.map(\.url) == [97, 98, 99, 100].map { Sample.source($0).key })
  }
}
