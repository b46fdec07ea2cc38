import TestSupport

/// `thumbs prefetch` is a stream: pages are asked for ahead of what is done, and no further than `--ahead`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PrefetchStreamTests {
  private static let pages = 5
  private static let perPage = 2

  @Test(arguments: [1, 2, 3])
  func asksForPagesWhileEarlierOnesDownloadAndNoFurtherAheadThanTold(ahead: Int) async throws {
    // Given a search of five pages, whose pictures are held back one by one
    let bench = try Bench()
    let gates = (0..<Self.pages * Self.perPage).map { _ in Gate() }
    let body = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg"))
    let pictures = (0..<Self.pages * Self.perPage).map {
      UnsplashOrigin.Picture(id: "p\($0)", description: "a lake", body: body)
    }
    let unsplash = try UnsplashOrigin(pictures: pictures) { id in
      Int(id.dropFirst()).map { gates[$0] }
    }
    let process = try bench.start(
      [
        "prefetch", "--query", "lake", "--provider", "unsplash", "--provider-url", "\(unsplash.baseURL)",
        "--per-page", "\(Self.perPage)", "--pages", "\(Self.pages)", "--ahead", "\(ahead)", "--json",
      ], environment: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])

    var released: [ContinuousClock.Instant] = []
    for page in 1...Self.pages {
      // When no picture of this page has come yet, then exactly the pages within reach are asked for, and their pictures
      let reach = min(page + ahead - 1, Self.pages)
      let asked = await eventually(within: .seconds(30)) {
        unsplash.apiRequests.count >= reach && unsplash.imageRequests.count >= reach * Self.perPage
      }
      #expect(asked, "page \(page): \(unsplash.apiRequests.map(\.target)), \(process.said)")
      // And no further one while the last picture of this page is out
      for picture in (page - 1) * Self.perPage..<page * Self.perPage {
        #expect(await eventually { process.printed.split(separator: "\n").count == picture })
        #expect(unsplash.apiRequests.count == reach)
        released.append(.now)
        gates[picture].open()
      }
    }
    let run = await process.run()

    // Then the log tells the same of every moment
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try run.pictures().count == Self.pages * Self.perPage)
    let asked = unsplash.apiRequests.map(\.request.arrival)
    for page in 1..<Self.pages {
      let pictures = (page - 1) * Self.perPage..<page * Self.perPage
      if ahead > 1 { #expect(asked[page] < released[pictures.lowerBound], "page \(page + 1) came late") }
      let next = page + ahead - 1
      if next < Self.pages { #expect(asked[next] > released[pictures.upperBound - 1], "page \(next + 1) came early") }
    }
  }
}
