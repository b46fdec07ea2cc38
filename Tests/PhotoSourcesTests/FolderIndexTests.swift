@testable import CaptureDates
@testable import PhotoSources
@testable import ThumbnailCore

/// The images of a folder at once: by month, by name, and as the folder changes.
@Suite(.timeLimit(.minutes(5))) struct FolderIndexTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("index-\(UUID())", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Adds a file that was changed on a day and, as its EXIF data tell, taken on another, by a camera.
  private func add(
    _ path: String, _ day: String = "2026-03-10", taken: String? = nil, by camera: (make: String, model: String)? = nil
  ) throws {
    let file = folder.appendingPathComponent(path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let exif = taken.map { day in
      var texts = [DateSamples.original: "\(day.replacing("-", with: ":")) 12:00:00"]
      if let camera { (texts[0x010F], texts[0x0110]) = camera }
      return DateSamples.tiff(texts)
    }
    try Data(exif.map { DateSamples.jpeg(exif: $0) } ?? [1]).write(to: file)
    let date = try #require(ISO8601DateFormatter().date(from: day + "T12:00:00Z"))
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
  }

  private func ids(_ arrangement: FolderArrangement) throws -> [String] {
    try arrangement.photos(in: 0..<arrangement.count).map(\.photo.id)
  }

  /// The names of the sections, each with the images in it.
  private func months(_ arrangement: FolderArrangement) throws -> [String: [String]] {
    var (months, rest): ([String: [String]], ArraySlice<String>) = ([:], try ids(arrangement)[...])
    for section in arrangement.sections {
      months[section.title ?? ""] = Array(rest.prefix(section.count))
      rest = rest.dropFirst(section.count)
    }
    return months
  }

  @Test func copiedPhotographsAreInTheMonthsInWhichTheyWereTaken() async throws {
    try add("a.jpg", taken: "2024-07-01")
    try add("b.jpg", taken: "2024-07-31")
    try add("c.jpg", taken: "1898-01-15")
    try add("IMG_20250102_030405.png")
    try add("plain.png")
    let arrangement = try await FolderIndex(path: folder.path).arrangement(of: "", order: .date)
    #expect(arrangement.isDated)
    let expected = [
      "March 2026": ["plain.png"], "January 2025": ["IMG_20250102_030405.png"], "July 2024": ["b.jpg", "a.jpg"],
      "January 1898": ["c.jpg"],
    ]
    #expect(try months(arrangement) == expected)
    let sources = try arrangement.photos(in: 0..<5).map(\.date.source)
    #expect(sources == [.file, .name, .camera, .camera, .camera])
  }

  @Test func aFolderIsShownByTheTimesOfItsFilesUntilItsDatesAreRead() async throws {
    for number in 0..<40 { try add("\(number).jpg", taken: "2024-07-\(10 + number % 20)") }
    let index = FolderIndex(path: folder.path, datesBefore: .seconds(-1000))
    let first = try await index.arrangement(of: "", order: .date)
    #expect(!first.isDated)
    #expect(index.datesRead == [0, 40])
    #expect(first.sections == [.init(title: "March 2026", count: 40)])
    await index.readDates()
    let second = try await index.arrangement(of: "", order: .date)
    #expect(second.isDated)
    #expect(index.datesRead == nil)
    #expect(second.sections == [.init(title: "July 2024", count: 40)])
    #expect(try ids(second).prefix(3) == ["19.jpg", "39.jpg", "18.jpg"])
    for position in [0, 17, 39] {
      #expect(try second.positions(of: [try ids(second)[position]]).values.first == position)
    }
    #expect(try second.positions(of: ["none.jpg"]).isEmpty)
    let hidden = try await index.arrangement(of: "", order: .date, hidden: ["19.jpg"])
    #expect(try hidden.positions(of: ["19.jpg", "39.jpg", "none", "18.jpg"]) == ["39.jpg": 0, "18.jpg": 1])
  }

  @Test func aFileThatIsReplacedInPlaceHasItsNewDate() async throws {
    for name in ["a.jpg", "b.jpg"] { try add(name, taken: "2024-07-01") }
    // A folder that has just been changed is listed again at each look.
    let before = Date(timeIntervalSince1970: 1e9)
    try FileManager.default.setAttributes([.modificationDate: before], ofItemAtPath: folder.path)
    let index = FolderIndex(path: folder.path)
    let first = try await index.arrangement(of: "", order: .date)
    let generation = await index.currentGeneration()
    await index.check(0..<2, of: first)
    #expect(await index.currentGeneration() == generation)
    let exif = DateSamples.tiff([DateSamples.original: "2025:05:06 12:00:00"])
    let file = try FileHandle(forWritingTo: folder.appending(path: "b.jpg"))
    try file.write(contentsOf: Data(DateSamples.jpeg(exif: exif)) + [0])
    try file.close()
    await index.check(0..<9, of: first)
    #expect(await index.currentGeneration() > generation)
    let second = try await index.arrangement(of: "", order: .date)
    #expect(!second.isDated)
    await index.readDates()
    let third = try await index.arrangement(of: "", order: .date)
    #expect(try months(third) == ["July 2024": ["a.jpg"], "May 2025": ["b.jpg"]])
    // One that is put back has its old date again.
    try add("b.jpg", taken: "2024-07-01")
    await index.check(0..<2, of: third)
    await index.readDates()
    let restored = try await index.arrangement(of: "", order: .date)
    #expect(try months(restored) == ["July 2024": ["a.jpg", "b.jpg"]])
    // A state is looked at once, even if nothing can be read of it.
    let handle = try FileHandle(forWritingTo: folder.appending(path: "a.jpg"))
    try handle.truncate(atOffset: 1)
    try handle.close()
    #expect(chmod(folder.appending(path: "a.jpg").path, 0) == 0)
    await index.check(0..<2, of: restored)
    await index.readDates()
    let fourth = try await index.arrangement(of: "", order: .date)
    let last = await index.currentGeneration()
    await index.check(0..<2, of: fourth)
    #expect(await index.currentGeneration() == last)
  }

  @Test func hiddenFilesAreLeftOutWhereverTheyAreAndNeitherTheirLikeNorShownCopies() async throws {
    // All of one length, as a burst, and alike where they begin and end.
    for (name, byte) in [("a/1.jpg", UInt8(1)), ("a/2.jpg", 2), ("copy.jpg", 2), ("3.jpg", 3)] {
      try add(name)
      let file = folder.appending(path: name)
      try (Data(count: 400_000) + Data(repeating: byte, count: 200_000) + Data(count: 400_000)).write(to: file)
      try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: file.path)
    }
    let index = FolderIndex(path: folder.path)
    let whole = await index.prints(of: ["a/2.jpg"], hidden: ["a/2.jpg", "copy.jpg"])
    #expect(whole.count > 1)
    let prints = await index.prints(of: ["a/1.jpg", "a/2.jpg"], hidden: ["a/1.jpg", "a/2.jpg"])
    #expect(prints.count == 2 * whole.count - 2)
    // Unpacked elsewhere, with other times.
    for name in ["1.jpg", "2.jpg"] {
      let data = try Data(contentsOf: folder.appending(path: "a/\(name)"))
      try add("b/\(name)")
      try data.write(to: folder.appending(path: "b/\(name)"))
    }
    try FileManager.default.removeItem(at: folder.appending(path: "a"))
    let arrangement = try await FolderIndex(path: folder.path).arrangement(of: "", order: .name, prints: Set(prints))
    #expect(try ids(arrangement) == ["3.jpg", "copy.jpg", "b/2.jpg"] && arrangement.hidden == ["b/1.jpg"])
  }

  @Test func hiddenFilesThatAreEditedHaveNewPrintsAndAreTheSameFilesUntilThen() async throws {
    try add("a/1.jpg", taken: "2024-07-01")
    try add("a/2.jpg")
    try FileManager.default.linkItem(at: folder.appending(path: "a/2.jpg"), to: folder.appending(path: "link.jpg"))
    func unprinted(_ hidden: Set<String>, _ prints: [String]) async throws -> [String] {
      try await FolderIndex(path: folder.path)
        .arrangement(of: "", order: .name, hidden: hidden, prints: Set(prints)).unprinted
    }
    #expect(try await unprinted(["a/1.jpg"], []) == ["a/1.jpg"], "as an earlier version has hidden it")
    let prints = await FolderIndex(path: folder.path).prints(
      of: ["a/1.jpg"], hidden: ["a/1.jpg", "a/2.jpg", "link.jpg"])
    #expect(try await unprinted(["a/1.jpg"], prints) == [])
    let linked = await FolderIndex(path: folder.path).prints(of: ["a/2.jpg"], hidden: ["a/1.jpg", "a/2.jpg"])
    #expect(linked.isEmpty, "one of two names")
    let file = try FileHandle(forWritingTo: folder.appending(path: "a/1.jpg"))
    try file.write(contentsOf: Data("edited".utf8))
    try file.close()
    #expect(try await unprinted(["a/1.jpg"], prints) == ["a/1.jpg"])
    try FileManager.default.moveItem(at: folder.appending(path: "a"), to: folder.appending(path: "b"))
    // Not where the file system does not tell when a file was made.
    if prints.count == 3 { #expect(try await unprinted(["a/1.jpg"], prints) == ["b/1.jpg"]) }
  }

  @Test func aSecondStartReadsOnlyWhatHasChanged() async throws {
    let cache = try TemporaryDirectory()
    for name in ["a.jpg", "b.jpg"] { try add(name, taken: "2024-07-01") }
    func arrangement() async throws -> [String: [String]] {
      let index = FolderIndex(path: folder.path, cacheDirectory: cache.url)
      let arrangement = try await index.arrangement(of: "", order: .date)
      #expect(arrangement.isDated)
      return try months(arrangement)
    }
    #expect(try await arrangement() == ["July 2024": ["a.jpg", "b.jpg"]])
    // Another date, but the length and the time of before: who reads the file again finds it.
    try add("a.jpg", taken: "2021-02-03")
    #expect(try await arrangement() == ["July 2024": ["a.jpg", "b.jpg"]])
    try add("b.jpg", "2026-03-11", taken: "2021-02-03")
    #expect(try await arrangement() == ["July 2024": ["a.jpg"], "February 2021": ["b.jpg"]])
    // What is damaged counts as nothing.
    let dates = cache.url.appending(path: "dates")
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: dates.path).first)
    var bytes = try Data(contentsOf: dates.appending(path: name))
    // Eight bytes, eight, 18 for each photograph, and eight.
    #expect(bytes.count == 60)
    bytes[20] ^= 1
    try bytes.write(to: dates.appending(path: name))
    #expect(try await arrangement() == ["February 2021": ["a.jpg", "b.jpg"]])
  }

  @Test func theLastChangedComeFirstInASectionForEachMonth() async throws {
    try add("b/old.jpg", "2025-12-31")
    try add("a/new.jpg", "2026-03-20")
    try add("a/middle.png", "2026-03-01")
    try add("a/notes.txt")
    let arrangement = try await FolderIndex(path: folder.path).arrangement(of: "", order: .date)
    #expect(try ids(arrangement) == ["a/new.jpg", "a/middle.png", "b/old.jpg"])
    #expect(arrangement.sections == [.init(title: "March 2026", count: 2), .init(title: "December 2025", count: 1)])
  }

  @Test func aSearchFindsWordsInAnyOrderFoldersAndMonthsWithoutCaseAndAccents() async throws {
    try add("Été/Lac Léman 1.jpg", taken: "2021-07-03")
    try add("Été/Lac Léman 2.jpg", taken: "2019-08-03")
    try add("alps/peak.jpg", taken: "2021-07-30")
    try add("alps/may.jpg", taken: "2020-01-01")
    let index = FolderIndex(path: folder.path)
    let expected = [
      "leman LAC": ["Été/Lac Léman 1.jpg", "Été/Lac Léman 2.jpg"], "ete 2": ["Été/Lac Léman 2.jpg"],
      "july 2021": ["alps/peak.jpg", "Été/Lac Léman 1.jpg"], "jul 202": ["alps/peak.jpg", "Été/Lac Léman 1.jpg"],
      "2021 léman JULY": ["Été/Lac Léman 1.jpg"],
      "alps": ["alps/may.jpg", "alps/peak.jpg"], "may": ["alps/may.jpg"], "july 2019": [], "leman peak": [],
      "jul 20": [],
    ]
    for (query, ids) in expected {
      #expect(try self.ids(try await index.arrangement(of: query, order: .name)).sorted() == ids, "\(query)")
    }
  }

  @Test func aSearchFindsUmlautsInBothSpellingsAndMonthsInNumbersAndOtherLanguages() async throws {
    for (name, day) in [
      ("Müller/1.jpg", "2018-07-03"), ("Mueller/2.jpg", "2018-08-03"), ("muller/3.jpg", "2018-12-03"),
      ("Blüte.jpg", "2017-07-03"), ("blue.jpg", "2017-10-03"), ("Straße.jpg", "2017-03-03"),
      ("Smørrebrød.jpg", "2017-05-03"),
    ] { try add(name, taken: day) }
    let index = FolderIndex(path: folder.path)
    for (query, ids) in [
      "mueller": ["Mueller/2.jpg", "Müller/1.jpg"], "müller": ["Mueller/2.jpg", "Müller/1.jpg", "muller/3.jpg"],
      "MUELLE": ["Mueller/2.jpg", "Müller/1.jpg"], "muller": ["Müller/1.jpg", "muller/3.jpg"],
      "blue": ["blue.jpg"], "bluete": ["Blüte.jpg"], "blü": ["Blüte.jpg", "blue.jpg"], "strasse": ["Straße.jpg"],
      "smoerre": ["Smørrebrød.jpg"], "smorre": ["Smørrebrød.jpg"],
      "2018-07": ["Müller/1.jpg"], "07/2018": ["Müller/1.jpg"], "7.2018": ["Müller/1.jpg"], "2018/7": ["Müller/1.jpg"],
      "2018-1": [], "2018-12": ["muller/3.jpg"], "13/2018": [], "juli 2018": ["Müller/1.jpg"],
      "Juli": ["Blüte.jpg", "Müller/1.jpg"], "lip": [], "lipi": ["Blüte.jpg", "Müller/1.jpg"],
      "mai": ["Smørrebrød.jpg"],
      "décembre": ["muller/3.jpg"], "März": ["Straße.jpg"], "Maerz 2017": ["Straße.jpg"], "oktober": ["blue.jpg"],
    ] {
      #expect(try self.ids(try await index.arrangement(of: query, order: .name)).sorted() == ids.sorted(), "\(query)")
    }
  }

  @Test func aSearchFindsCamerasOnceTheyAreReadAndKeepsThem() async throws {
    let cache = try TemporaryDirectory()
    try add("a.jpg", taken: "2021-07-03", by: ("SONY", "ILCE-7M3"))
    try add("6/b.jpg", taken: "2021-07-04", by: ("Google", "Pixel 4"))
    try add("c.jpg", taken: "2021-07-05", by: ("Google", "Pixel 6"))
    try add("pixel.jpg", taken: "2021-07-06")
    let expected = [
      "ilce-7M3": ["a.jpg"], "sony": ["a.jpg"], "6 pixel": ["6/b.jpg", "c.jpg"],
      "pixel": ["6/b.jpg", "c.jpg", "pixel.jpg"],
      "google july 2021": ["6/b.jpg", "c.jpg"], "ilce-7m30": [],
    ]
    func index(_ datesBefore: Duration) -> FolderIndex {
      FolderIndex(path: folder.path, extensions: ["jpg"], cacheDirectory: cache.url, datesBefore: datesBefore)
    }
    func expectAll(_ index: FolderIndex) async throws {
      for (query, ids) in expected {
        #expect(try self.ids(try await index.arrangement(of: query, order: .name)).sorted() == ids, "\(query)")
      }
    }
    let first = index(.seconds(-1000))
    let early = try await first.arrangement(of: "sony", order: .name)
    #expect(early.count == 0 && !early.isDated)
    await first.readDates()
    try await expectAll(first)
    // They are known before any file is read again.
    let second = index(.seconds(-1000))
    #expect(try await second.arrangement(of: "", order: .name).isDated)
    try await expectAll(second)
  }

  @Test func camerasBeyondAThousandsAreNotKept() {
    var cameras = CameraNames()
    for number in 0..<5000 { _ = cameras.number(of: "camera \(number)") }
    #expect(cameras.names.count == 4096)
    #expect(cameras.number(of: "camera 7") == 8 && cameras.number(of: "camera 4999") == 0)
    #expect(cameras.number(of: nil) == 0 && cameras.number(of: "") == 0)
  }

  @Test func namesAreInNaturalOrderAndOfOneMomentToo() async throws {
    for number in [10, 2, 1] { try add("img\(number).jpg") }
    let index = FolderIndex(path: folder.path)
    for order in FolderIndex.Order.allCases {
      let arrangement = try await index.arrangement(of: "", order: order)
      #expect(try ids(arrangement) == ["img1.jpg", "img2.jpg", "img10.jpg"])
    }
  }

  @Test func albumsThatDifferInLeadingZerosStayWhole() async throws {
    for folder in ["1", "01"] { for name in ["a/1", "b/1", "2"] { try add("2021/\(folder)/\(name).jpg") } }
    let index = FolderIndex(path: folder.path)
    let albums = try await index.arrangement(of: "", in: "2021", order: .name).albums
    #expect(albums.map { "\($0.path): \($0.count)" } == ["2021/01: 3", "2021/1: 3"])
    let one = try await index.arrangement(of: "", in: "2021/1", order: .name)
    #expect(try ids(one) == ["2021/1/2.jpg", "2021/1/a/1.jpg", "2021/1/b/1.jpg"])
    #expect(try one.positions(of: ["2021/1/b/1.jpg"]).values.first == 2)
  }

  @Test func wordsChooseAndHiddenOnesAreLeftOut() async throws {
    for path in ["lakes/one.jpg", "lakes/two.jpg", "hills/one.jpg"] { try add(path) }
    let index = FolderIndex(path: folder.path)
    #expect(try await ids(index.arrangement(of: "LAKE one", order: .name)) == ["lakes/one.jpg"])
    #expect(
      try await ids(index.arrangement(of: "", order: .name, hidden: ["lakes/two.jpg"]))
        == ["hills/one.jpg", "lakes/one.jpg"])
    let none = try await index.arrangement(of: "sea", order: .date)
    #expect(none.count == 0)
    #expect(none.sections.isEmpty)
  }

  @Test func aRawFileBesideItsJPEGIsOneImageWithItAndFilmsAreCounted() async throws {
    let names = [
      "IMG_1.HEIC", "IMG_1.mov", "a/p.JPG", "a/P.nef", "a/p.heic", "a/P.MOV", "alone.nef", "b/p.nef", "b/film.mp4",
    ]
    for name in names { try add(name) }
    let extensions: Set = ["heic", "jpg", "nef"]
    func found(_ pairs: Bool) async throws -> FolderArrangement {
      try await FolderIndex(path: folder.path, extensions: extensions, pairs: pairs).arrangement(of: "", order: .name)
    }
    let all = try await found(false)
    #expect(try ids(all) == ["IMG_1.HEIC", "alone.nef", "a/P.nef", "a/p.JPG", "a/p.heic", "b/p.nef"])
    #expect(all.films == 3 && all.albums.map(\.count) == [3, 1])
    #expect(try await ids(found(true)) == ["IMG_1.HEIC", "alone.nef", "a/p.JPG", "b/p.nef"])
    // Hidden together, too.
    let index = FolderIndex(path: folder.path, extensions: extensions, pairs: true)
    #expect(await index.withPaired(["a/p.JPG"]) == ["a/p.JPG", "a/P.nef", "a/p.heic"])
    try Data("p.JPG\n".utf8).write(to: folder.appendingPathComponent("a/.hidden"))
    #expect(try await ids(found(true)) == ["IMG_1.HEIC", "alone.nef", "b/p.nef"])
  }

  @Test func aSiteOfThumbnailsIsNoAlbumButWithinItIsAFolder() async throws {
    for name in ["a.jpg", "www/a-512x512.jpg", "www/b/c-512x512.jpg"] { try add(name) }
    try add("www/site-files/thumbs-site.txt")
    #expect(try ids(await FolderIndex(path: folder.path).arrangement(of: "", order: .name)) == ["a.jpg"])
    let site = FolderIndex(path: folder.appending(path: "www").path)
    #expect(try ids(await site.arrangement(of: "", order: .name)) == ["a-512x512.jpg", "b/c-512x512.jpg"])
  }

  @Test func positionsBeyondTheEndAreLeftOut() async throws {
    for number in 0..<5 { try add("\(number).jpg") }
    let arrangement = try await FolderIndex(path: folder.path).arrangement(of: "", order: .name)
    #expect(try arrangement.photos(in: 3..<9).map(\.photo.id) == ["3.jpg", "4.jpg"])
    #expect(try arrangement.photos(in: 7..<9).isEmpty)
  }

  @Test func aChangedFolderIsNoticedByAllWhoAskAndListedAnew() async throws {
    try add("sub/one.jpg")
    // Not changed a moment ago, which would count as a change.
    for place in ["", "sub"] {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: folder.appendingPathComponent(place).path)
    }
    let index = FolderIndex(path: folder.path)
    _ = try await index.arrangement(of: "", order: .name)
    let first = await index.currentGeneration()
    #expect(await index.currentGeneration() == first)
    try add("sub/two.jpg")
    let second = await index.currentGeneration()
    #expect(second > first)
    #expect(await index.currentGeneration() == second)
    #expect(try await ids(index.arrangement(of: "", order: .name)) == ["sub/one.jpg", "sub/two.jpg"])
  }

  @Test func aFolderThatIsNotThereIsNamed() async {
    let missing = folder.appendingPathComponent("missing").path
    await #expect(throws: ProviderError.folderMissing(path: missing)) {
      try await FolderIndex(path: missing).arrangement(of: "", order: .date)
    }
  }
}
