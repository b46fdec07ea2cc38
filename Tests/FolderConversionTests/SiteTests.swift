import TestSupport

@testable import Exports
@testable import FolderConversion
@testable import ThumbnailCore

/// Sites that are written from folders, through the public interface.
@Suite(.timeLimit(.minutes(10))) struct SiteTests {
  private let directory: TemporaryDirectory
  private var input: RawPath { RawPath(directory.url.appendingPathComponent("in").path) }
  private var output: RawPath { RawPath(directory.url.appendingPathComponent("www").path) }

  init() throws {
    directory = try TemporaryDirectory()
    try put("formats/jpeg-420.jpg", at: "lake.jpg")
    try put("formats/png-rgba.png", at: "2024/May/b.png")
  }

  /// Puts a test image at a path below the input folder, whose name may be any bytes.
  private func put(_ image: String, at name: some Collection<UInt8>) throws {
    let target = input.appending(name)
    try NewFile.makeFolders(RawPath(bytes: target.folder.dropLast()))
    var file = try NewFile(target)
    try file.write(TestImages.bytes(image))
    try file.commit()
  }

  private func put(_ image: String, at name: String) throws { try put(image, at: Array(name.utf8)) }

  private struct Outcome {
    let summary: ConversionSummary
    let inTheWay: [RawPath]?
    var hasPages: Bool { inTheWay != nil }
    var orphans: [String]
  }

  private func run(
    originals: Bool = false, removing: Bool = false, meanwhile command: String? = nil,
    _ change: (inout FolderConverter.Options) -> Void = { _ in }
  ) async throws -> Outcome {
    var options = FolderConverter.Options.site(
      of: input, in: output, title: "Holidays & more", grid: 40, view: 64, copiesOriginals: originals)
    change(&options)
    let conversion = try await FolderConverter(options).start()
    for await _ in conversion {}
    let inTheWay = try await conversion.writePages()
    let orphans = await conversion.orphans()
    if let command { try await shell(command) }
    if removing { await conversion.remove(orphans) }
    return Outcome(
      summary: await conversion.finish(), inTheWay: inTheWay,
      orphans: orphans.flatMap { $0.outputs.map(\.description) }.sorted())
  }

  /// The files of the site by their paths.
  private func files(in folder: RawPath? = nil) throws -> [RawPath: FileState] {
    var files: [RawPath: FileState] = [:]
    var walk = DirectoryWalk(of: folder ?? output, followsLinks: false)
    var hasMore = true
    while hasMore {
      hasMore = walk.listNext { folder, event in
        guard case .entry(let entry) = event else { return true }
        let path = RawPath(bytes: folder.path + entry.name)
        if case .success(.folder) = entry.kind { return true }
        files[path] = try? FileState(of: folder.opened.appending(entry.name))
        return false
      }
    }
    return files
  }

  private func names() throws -> [String] { try files().keys.map(\.description).sorted() }

  private func text(_ path: RawPath) throws -> String {
    let descriptor = output.appending(path.bytes).withCString { open($0, O_RDONLY) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    return String(decoding: try #require(try file.readToEnd()), as: UTF8.self)
  }

  private func text(_ path: String) throws -> String { try text(RawPath(path)) }

  /// Expects that each address in each page is that of a file of the site.
  private func expectWholeLinks(sourceLocation: SourceLocation = #_sourceLocation) throws {
    for (path, _) in try files() where path.name.elementsEqual("index.html".utf8) {
      let page = try text(path)
      #expect(page.components(separatedBy: "<script").count == 2, "\(page)", sourceLocation: sourceLocation)
      for match in page.matches(of: #/(?:href|src)="([^"]*)"/#) {
        let address = RawPath(percentEncoded: String(match.output.1))
        #expect(!match.output.1.contains { "<>'?#:".contains($0) }, sourceLocation: sourceLocation)
        let target = output.appending(path.folder).appending(address.bytes)
        #expect((try? FileState(of: target))?.kind == .regular, "\(target)", sourceLocation: sourceLocation)
      }
    }
  }

  @Test func aTreeBecomesAlbumsWithCoversCountsAndTheWayBack() async throws {
    let outcome = try await run()
    #expect(outcome.hasPages && outcome.summary.converted == 2)
    #expect(
      try names() == [
        ".thumbs-index", "2024/May/b-40x40.webp", "2024/May/b-64x64.webp", "2024/May/index.html", "2024/index.html",
        "index.html", "lake-40x40.jpg", "lake-64x64.jpg", "site-files/icon.svg", "site-files/search.js",
        "site-files/site.css", "site-files/site.js", "site-files/thumbs-site.txt",
      ])
    let first = try text("index.html")
    #expect(first.contains("<h1><bdi>Holidays &amp; more</bdi></h1>\n<p>2 pictures</p>"))
    let cover = "<a href=\"2024/index.html\" tabindex=\"-1\" aria-hidden=\"true\">"
    #expect(first.contains(cover + "<img loading=\"lazy\" src=\"2024/May/b-40x40.webp\""))
    #expect(first.contains("<figcaption><a href=\"2024/index.html\"><strong"))
    #expect(first.contains("<small><bdi>1 picture</bdi></small>"))
    #expect(first.contains("<a href=\"lake-64x64.jpg\" data-size=\"64x"))
    let inner = try text("2024/May/index.html")
    #expect(
      inner.contains("<a href=\"../../index.html\"><bdi>Holidays &amp; more</bdi></a> / <a href=\"../index.html\">"))
    #expect(inner.contains("href=\"../../site-files/site.css\"") && inner.contains("default-src 'none'"))
    try expectWholeLinks()
    #expect(try FileState(of: output.appending(".thumbs-index".utf8)).permissions == 0o600, "it names private folders")
  }

  @Test func hostileNamesStayTextAndLeadToTheirFiles() async throws {
    let names = [
      "a#b?c%41&d.jpg", "\"><script>alert(1)<.jpg", "javascript:alert(1).jpg", "'onerror='alert(1).jpg",
      "line\nbreak\t.jpg", "\u{202E}gpj.exe.jpg", "<title>.jpg", "index.html/a.jpg", "index.html_/a.jpg",
      "INDEX-2.HTML/a.jpg", "site-files/a.jpg", "site-files/site.css/a.jpg", "search.js/x.jpg", "&amp;/\u{2028}.jpg",
      "site.css/a.jpg", "index.html/index.html/b.jpg", "`${alert(1)}`.jpg", "\\.jpg", "index.html.jpg",
    ]
    for name in names { try put("formats/jpeg-420.jpg", at: name) }
    let raw: [UInt8] = Array("x/".utf8) + [0xE9, 0xFF, 0x25] + Array(".jpg".utf8)
    try put("formats/jpeg-420.jpg", at: raw)
    try put("formats/jpeg-420.jpg", at: [0xFF, 0x2F] + Array("y.jpg".utf8))
    let outcome = try await run(originals: true)
    #expect(outcome.hasPages && outcome.summary.converted == names.count + 4 && outcome.summary.failed == 0)
    try expectWholeLinks()
    let pages = try files().keys.filter { $0.name.elementsEqual("index.html".utf8) }
    #expect(
      pages.contains(RawPath("index.html_/index.html_/index.html"))
        && pages.contains(RawPath("index.html__/index.html")))
    let first = try text("index.html")
    #expect(
      first.contains("alt=\"&quot;&gt;&lt;script&gt;alert(1)&lt;.jpg\"") && !first.contains("\u{202E}"))
    let search = try text("site-files/search.js")
    let known = search.dropFirst("window.searchIndex = ".count).prefix { $0 != "\n" }
    let json = try JSONSerialization.jsonObject(with: Data(known.utf8))
    #expect((json as? [Any])?.count == pages.count)
    #expect(try await run(originals: true).summary.current == names.count + 4)
  }

  @Test func aSecondRunLeavesFilesAloneAndWritesWhatHasChanged() async throws {
    _ = try await run()
    let before = try files()
    #expect(try await run().summary.current == 2)
    #expect(try files() == before)
    try put("formats/jpeg-444.jpg", at: "2024/c.jpg")
    #expect(try await run().summary.converted == 1)
    let after = try files()
    let changed = after.filter { before[$0.key] != $0.value }.keys.map(\.description).sorted()
    #expect(
      changed == [
        ".thumbs-index", "2024/c-40x40.jpg", "2024/c-64x64.jpg", "2024/index.html", "index.html",
        "site-files/search.js",
      ])
    // What somebody has removed is written again, and what somebody has changed stays until it is moved.
    try Data("?".utf8).write(to: URL(fileURLWithPath: output.description + "/index.html"))
    try FileManager.default.removeItem(atPath: output.description + "/2024/index.html")
    #expect(try await run().inTheWay == [output.appending("index.html".utf8)])
    #expect(try text("index.html") == "?" && text("2024/index.html").contains("</html>"))
    try FileManager.default.removeItem(atPath: output.description + "/index.html")
    #expect(try await run().inTheWay == [])
    #expect(try text("index.html").contains("</html>"))
  }

  @Test func whatIsLeftOfRemovedPicturesGoesOnRequest() async throws {
    for number in 0...SitePage.most { try put("formats/jpeg-420.jpg", at: "many/\(number).jpg") }
    _ = try await run()
    #expect(try names().contains("many/index-2.html"))
    let (one, two) = (try text("many/index.html"), try text("many/index-2.html"))
    #expect(one.contains("<a rel=\"next\" href=\"index-2.html\">") && !one.contains("rel=\"prev\""))
    #expect(two.contains("<a rel=\"prev\" href=\"index.html\">") && two.contains("2 of 2"))
    #expect(two.components(separatedBy: "<figure").count == 2)
    for name in ["many/0.jpg", "many/1.jpg", "2024"] {
      try FileManager.default.removeItem(atPath: input.description + "/" + name)
    }
    let outcome = try await run(removing: true)
    #expect(
      outcome.orphans == [
        "2024/May/b-40x40.webp", "2024/May/b-64x64.webp", "2024/May/index.html", "2024/index.html", "many/0-40x40.jpg",
        "many/0-64x64.jpg", "many/1-40x40.jpg", "many/1-64x64.jpg", "many/index-2.html",
      ])
    #expect(try !names().contains { $0.hasPrefix("2024") || $0.hasSuffix("index-2.html") })
    try expectWholeLinks()
    #expect(try await run(removing: true).orphans.isEmpty)
  }

  @Test func whatIsExcludedNowIsNoPartOfTheSite() async throws {
    _ = try await run(originals: true)
    _ = try await run()
    let outcome = try await run(originals: true, removing: true) { $0.exclude = [GlobPattern("2024")!] }
    // Once each, though two runs made the thumbnails.
    #expect(
      outcome.orphans == [
        "2024/May/b-40x40.webp", "2024/May/b-64x64.webp", "2024/May/index.html", "2024/index.html",
        "site-files/originals/2024/May/b.png",
      ])
    #expect(try !names().contains { $0.contains("2024") } && names().contains("site-files/originals/lake.jpg"))
  }

  private func shell(_ commands: String) async throws {
    try await FolderWatchTests.run("sh", "-c", "set -e; cd '\(input)'; " + commands)
  }

  @Test(arguments: [
    "mv 2024 ../safe; ln -s ../safe 2024", "mv 2024/May/b.png ../safe; ln -s ../../../safe 2024/May/b.png",
    "ln -s ../www/site-files look; ln -s ../www/index.html page; touch 2024/.nomedia", "touch 2024/.nomedia",
    "echo May > 2024/.hidden", "rm lake.jpg; touch 2024/.nomedia",
  ]) func whatIsThereButLeftOutIsNoPartOfTheSite(commands: String) async throws {
    _ = try await run(originals: true)
    try await shell(commands)
    _ = try await run(originals: true, removing: true)
    #expect(try !names().contains { $0.contains("b-") || $0.contains("b.png") })
    #expect(try names().contains("site-files/originals/lake.jpg"), "where nothing is left, a disk may be away")
  }

  @Test func whatIsLeftOutAndNotAsItWasWrittenIsNamedUntilItIsGone() async throws {
    _ = try await run(originals: true)
    let kept = ["2024/May/b-40x40.webp", "2024/May/b-64x64.webp", "site-files/originals/2024/May/b.png"]
    // As by a tool, by a link, and by a program that joins equal files.
    try await shell(
      "echo >> ../www/\(kept[0]); ln -sf /etc/passwd ../www/\(kept[1]); ln -f 2024/May/b.png ../www/\(kept[2])")
    let exclude = { (options: inout FolderConverter.Options) in
      options.exclude = ["2024", "lake.jpg"].compactMap { GlobPattern($0) }
    }
    for _ in 1...2 {
      let outcome = try await run(originals: true, removing: true, exclude)
      #expect(outcome.summary.kept.map(\.description) == kept)
    }
    #expect(try names().filter { $0.contains("2024") || $0.contains("lake") } == kept)
    // Also where its owner has moved the folder to another disk.
    try await shell("mv ../www/2024 ../moved; ln -s ../moved ../www/2024")
    #expect(try await run(originals: true, removing: true, exclude).summary.kept.map(\.description) == kept)
    try await shell("rm ../www/2024; mv ../moved ../www/2024")
    // Nor after a run that knows of nothing.
    try await shell("rm ../www/.thumbs-index; echo > ../www/robots.txt")
    for _ in 1...2 {
      let outcome = try await run(originals: true, removing: true, exclude)
      #expect(Set(outcome.summary.kept.map(\.description)) == Set(kept))
    }
    try await shell("rm -r ../www/2024 ../www/site-files/originals")
    #expect(try await run(originals: true, removing: true, exclude).summary.kept == [])
  }

  // The copies give way to the originals, to save room; only root mounts.
  @Test(
    arguments: [
      "rm -r 2024; ln -s ../www/site-files/originals/2024 older",
      "mv 2024 ../safe; cd ../www/site-files/originals; rm -r 2024/May; mount --bind ../../../safe 2024",
      // By another name, as on disks that know no case.
      "rm -r 2024; mkdir ../look; mount --bind ../www/site-files/originals/2024 ../look; ln -s ../look older",
    ].prefix(getuid() == 0 ? 3 : 1))
  func copiesThatMayBeAllThatIsLeftAreNotReplacedNorRemoved(commands: String) async throws {
    _ = try await run(originals: true)
    try await shell(commands)
    defer {
      for place in ["site-files/originals/2024", "../look"] { umount2("\(output)/\(place)", Int32(MNT_DETACH)) }
    }
    try await shell("mkdir -p 2024/May; cp lake.jpg 2024/May/b.png")
    let copy = output.appending("site-files/originals/2024/May/b.png".utf8)
    let before = try FileState(of: copy)
    #expect(try await run(originals: true).summary.failed == 1 && FileState(of: copy) == before)
    try await shell("rm -r 2024")
    _ = try await run(originals: true, removing: true)
    #expect(try !names().contains { $0.contains("b-") } && FileState(of: copy) == before)
  }

  @Test(arguments: [
    ("ln -s /away/site-files/originals/2024/May/b.png 2024/b.png", "*"),
    // In its place, and left out; and a link that works and comes late.
    ("ln -s /away/site-files/originals/2024/May/b.png 2024/May/b.png", "*.jpg"),
    ("", "ln -s ../../www/site-files/originals/2024/May/b.png 2024/b.png"),
  ])
  func whereALinkLeadsNowhereTheOnlyCopiesStay(link: String, rest: String) async throws {
    try await shell("cp lake.jpg 2024/May/c.jpg")
    _ = try await run(originals: true)
    try await shell("rm 2024/May/b.png; \(link)")
    _ = try await run(originals: true, removing: true, meanwhile: link.isEmpty ? rest : nil) {
      if !link.isEmpty { $0.include = [GlobPattern(rest)!] }
    }
    #expect(try names().filter { $0.contains("/b") } == ["site-files/originals/2024/May/b.png"])
  }

  @Test func whatSeveralFoldersHaveStaysWhereOneOfThemHasIt() async throws {
    _ = try await run(originals: true)
    try await shell("mv 2024 2025")
    _ = try await run(originals: true)
    try await shell("rm ../www/.thumbs-index")
    for _ in 1...2 { _ = try await run(originals: true) }
    try await shell("mv 2025/May/b.png away; ln -s ../../../www/site-files/originals/2025/May/b.png 2025/May/b.png")
    _ = try await run(originals: true, removing: true)
    #expect(try names().contains("site-files/originals/2025/May/b.png"))
  }

  @Test func whatAnOlderIndexDoesNotNameIsNamedUntilItIsGone() async throws {
    _ = try await run(originals: true)
    try await shell("cp -a ../www ../backup; mkdir new; cp 2024/May/b.png new/c.png")
    _ = try await run(originals: true)
    // Others' pages and pictures, and another site, are no part of it. Its owner may have moved the copies elsewhere.
    try await shell("cp -a ../backup/. ../www; cp -a ../backup ../www/other; : > ../www/new/empty.html")
    try await shell("cd ../www/site-files/originals; mv new ../../../moved; ln -s ../../../moved new")
    for _ in 1...2 {
      let outcome = try await run(originals: true, removing: true) { $0.exclude = [GlobPattern("new")!] }
      let kept = outcome.summary.kept.map(\.description)
      #expect(Set(kept.filter { $0.hasPrefix("new/") && $0.contains("c-") || $0.hasPrefix("site-files") }).count == 3)
      #expect(kept.contains("new/index.html") && !kept.contains { $0.hasPrefix("other") })
      #expect(kept.contains("new/empty.html") && kept.contains("site-files/originals/new"))
    }
    try await shell("rm -r ../www/new ../www/site-files/originals/new; echo > ../www/own.html")
    #expect(try await run(originals: true, removing: true) { $0.exclude = [GlobPattern("new")!] }.summary.kept == [])
  }

  @Test(.enabled(if: getuid() == 0, "only root mounts"))
  func aFolderThatCannotBeReadKeepsItsPicturesAloneAndTheirPages() async throws {
    try put("formats/jpeg-420.jpg", at: "disk/c.jpg")
    _ = try await run(originals: true)
    let before = try names()
    // Nobody answers for this one.
    let options = "fd=3,rootmode=40000,user_id=0,group_id=0"
    try await shell("exec 3<>/dev/fuse; mount -i -t fuse -o \(options) none disk")
    defer { umount2("\(input)/disk", Int32(MNT_DETACH)) }
    let outcome = try await run(originals: true, removing: true) { $0.exclude = [GlobPattern("2024")!] }
    #expect(outcome.hasPages && outcome.summary.failed == 2)
    #expect(try names() == before.filter { !$0.contains("2024") })
    #expect(try text("index.html").contains("disk/c-40x40.jpg") && text("disk/index.html").contains("c-64x64.jpg"))
  }

  @Test func anExcludedNameThatIsNotThereEndsTheRunBeforeAnythingIsWritten() async throws {
    await #expect(throws: ConversionError.self) {
      try await run(originals: true) { $0.exclude = ["2023", "2024/may"].compactMap { GlobPattern($0) } }
    }
    #expect((try? FileState(of: output)) == nil)
    let outcome = try await run(originals: true) { $0.exclude = ["*.gif", "./2024"].compactMap { GlobPattern($0) } }
    #expect(try outcome.summary.converted == 1 && !names().contains { $0.contains("2024") })
    // What is marked later is left out, too.
    try Data().write(to: URL(fileURLWithPath: "\(input)/2024/.nomedia"))
    _ = try await run(originals: true)
    #expect(try !names().contains { $0.contains("2024") })
  }

  @Test func whatARunHasNotSeenStays() async throws {
    _ = try await run(originals: true)
    // What is left of originals that a link leads to, by whatever name.
    try FileManager.default.removeItem(atPath: "\(input)/2024")
    try FileManager.default.createSymbolicLink(
      atPath: "\(input)/Norway", withDestinationPath: "\(output)/site-files/originals/2024")
    _ = try await run(originals: true, removing: true)
    #expect(try names().contains("site-files/originals/2024/May/b.png"))
  }

  @Test func originalsAreCopiedWithTheirTimesButNoFileThatABrowserMightRun() async throws {
    try put("formats/jpeg-420.jpg", at: "page.html")
    try put("formats/svg.svg", at: "drawing.svg")
    let past = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 2_000_000, tv_nsec: 123_456_789)]
    #expect(utimensat(AT_FDCWD, input.description + "/lake.jpg", past, 0) == 0)
    let outcome = try await run(originals: true) { options in
      options.include = ["*.jpg", "*.html", "*.png", "*.svg"].compactMap { GlobPattern($0) }
    }
    #expect(outcome.summary.failed == 0 && outcome.summary.converted == 4)
    let copies = try files(in: output.appending("site-files/originals".utf8)).filter {
      $0.key.description.contains("jpg")
    }
    #expect(copies.map(\.key.description) == ["lake.jpg"] && copies.first?.value.modified == 2_000_000_123_456_789)
    #expect(
      try !names().contains {
        $0.hasPrefix("site-files/originals/page") || $0.hasPrefix("site-files/originals/drawing")
      })
    #expect(try names().contains("site-files/originals/2024/May/b.png"))
    #expect(
      try text("index.html").contains("<a href=\"site-files/originals/lake.jpg\" aria-label=\"Original of lake.jpg\">"))
    let without = try await run(removing: true)
    #expect(
      without.orphans.contains("site-files/originals/lake.jpg")
        && without.orphans.contains("site-files/originals/2024/May/b.png"))
    try expectWholeLinks()
  }

  @Test func withoutOriginalsNothingIsMadeAgainAndTheyGoOnRequest() async throws {
    _ = try await run(originals: true)
    let copy = "site-files/originals/lake.jpg"
    let without = try await run()
    #expect(without.summary.current == 2 && without.summary.converted == 0 && without.orphans.contains(copy))
    #expect(try names().contains(copy) && !text("index.html").contains(copy))
    #expect(try await run(removing: true).summary.current == 2)
    #expect(try !names().contains(copy) && names().contains("lake-40x40.jpg"))
    #expect(try await run(removing: true).orphans.isEmpty)
  }

  @Test func pagesNameTheSizesOfThePicturesAndTheSearchTheirMonthsAndCameras() async throws {
    let path = input.appending("IMG_20210704_030405.jpg".utf8)
    var file = try NewFile(path)
    let exif = DateSamples.jpeg(exif: DateSamples.tiff([0x010F: "Google", 0x0110: "Pixel 6"])).dropLast(6)
    try file.write(Data(exif) + TestImages.bytes("formats/jpeg-420.jpg").dropFirst(2))
    try file.commit()
    for _ in 0..<2 {
      _ = try await run()
      #expect(try text("index.html").contains("data-size=\"64x"))
      #expect(try text("index.html").contains("data-pixels=\"160x120\""))
      let search = try text("site-files/search.js")
      #expect(search.contains("\"month\":\"July 2021\"") && search.contains("Google Pixel 6"))
    }
  }

  @Test func anotherSiteWithinTheFolderIsNoInput() async throws {
    let inner = input.appending("www".utf8)
    let conversion = try await FolderConverter(
      .site(of: input, in: inner, title: nil, grid: 40, view: 64, copiesOriginals: true)
    ).start()
    for await _ in conversion {}
    #expect(try await conversion.writePages() == [])
    _ = await conversion.finish()
    #expect(try await run().summary.converted == 2)
    #expect(try !names().contains { $0.hasPrefix("www") })
  }

  @Test func anEmptyFolderMakesNothing() async throws {
    for name in ["lake.jpg", "2024"] { try FileManager.default.removeItem(atPath: "\(input)/\(name)") }
    let empty = try await run()
    #expect(empty.hasPages && empty.summary == ConversionSummary(duration: empty.summary.duration))
    try Data("?".utf8).write(to: URL(fileURLWithPath: "\(input)/notes.txt"))
    #expect(try await run().summary.skips == ["not-named-like-a-picture": 1])
    #expect((try? FileState(of: output)) == nil)
  }

  @Test func aPageThatSomebodyElseHasWrittenStays() async throws {
    try FileManager.default.createDirectory(atPath: output.description, withIntermediateDirectories: true)
    let page = URL(fileURLWithPath: output.description + "/index.html")
    try Data("mine".utf8).write(to: page)
    #expect(try await run().inTheWay == [output.appending("index.html".utf8)])
    #expect(try Data(contentsOf: page) == Data("mine".utf8) && text("2024/index.html").contains("</html>"))
  }

  @Test func withoutItsIndexASiteIsWrittenOnButForPagesThatWereEdited() async throws {
    _ = try await run()
    let before = try names()
    for damage in [nil, "thumbs index 1\nrubbish\n"] {
      try FileManager.default.removeItem(atPath: output.description + "/.thumbs-index")
      if let damage { try Data(damage.utf8).write(to: URL(fileURLWithPath: output.description + "/.thumbs-index")) }
      let outcome = try await run()
      #expect(outcome.inTheWay == [] && outcome.summary.converted == 2 && outcome.summary.failed == 0)
      #expect(try names() == before)
    }
    #expect(try await run().summary.current == 2)
    try put("formats/png-rgb.png", at: "2024/May/c.png")
    try await shell("rm ../www/.thumbs-index; echo >> ../www/2024/index.html")
    #expect(try await run().inTheWay == [output.appending("2024/index.html".utf8)])
    #expect(try text("2024/May/index.html").contains("c-40x40") && text("site-files/search.js").contains("c-40x40"))
    // One of another folder of pictures is none of ours.
    try await shell("rm ../www/.thumbs-index; mkdir ../other; cp lake.jpg ../other")
    let other = FolderConverter.Options.site(
      of: input.appending("../other".utf8), in: output, title: "Other", grid: 40, view: 64, copiesOriginals: false)
    let conversion = try await FolderConverter(other).start()
    for await _ in conversion {}
    #expect(try await conversion.writePages()?.contains(output.appending("index.html".utf8)) == true)
    _ = await conversion.finish()
  }

  @Test func pagesStayAsLongAsFoldersAreMissing() async throws {
    _ = try await run()
    let before = try files()
    try await shell("rm -r *")
    let outcome = try await run(removing: true)
    #expect(!outcome.hasPages && outcome.orphans.isEmpty)
    #expect(try files() == before)
  }

  @Test func aFirstRunShowsWhatCouldBeRead() async throws {
    #expect(FolderConverter.hasOtherFiles(input) && !FolderConverter.hasOtherFiles(output))
    let outcome = try await run { [input] in $0.inputs.append(.path(input.appending("../missing".utf8))) }
    #expect(outcome.hasPages && outcome.summary.converted == 2)
    #expect(try text("index.html").contains("lake.jpg"))
    #expect(!FolderConverter.hasOtherFiles(output), "it becomes a site")
  }

  @Test func aPictureThatFailsIsLeftOutAndTheOthersAreShown() async throws {
    try put("broken/html-page.jpg", at: "page.jpg")
    let outcome = try await run()
    #expect(outcome.summary.failed == 1 && outcome.hasPages)
    #expect(try !text("index.html").contains("page.jpg"))
    try expectWholeLinks()
  }

  @Test func theNewestPictureComesFirstUnderItsMonth() async throws {
    try put("formats/png-rgba.png", at: "album/IMG_20230102_030405.png")
    try put("formats/png-rgba.png", at: "album/IMG_20230601_030405.png")
    _ = try await run()
    let page = try text("album/index.html")
    let places = ["<h2>June 2023</h2>", "IMG_20230601", "<h2>January 2023</h2>", "IMG_20230102"].map {
      page.range(of: $0)?.lowerBound ?? page.endIndex
    }
    #expect(places == places.sorted() && places.last != page.endIndex)
  }
}
