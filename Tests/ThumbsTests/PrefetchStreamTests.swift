/// `thumbs prefetch` is a stream: pages are asked for ahead of what is done, and no further than two.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PrefetchStreamTests {
  private static let pages = 5
  private static let perPage = 2

  /// What was seen of a run.
  private struct Sight {
    /// The requests for pages whenever a picture was the next to be sent, and the pages within reach then.
    var requests: [(seen: Int, reach: Int)] = []
    /// When pages were asked for and pictures sent.
    var (asked, released): ([ContinuousClock.Instant], [ContinuousClock.Instant]) = ([], [])
    /// The longest time that a picture was held back.
    var longestHold = Duration.zero
  }

  @Test func asksForPagesWhileEarlierOnesDownloadAndNoFurtherAheadThanTwo() async throws {
    let ahead = 2
    // Others take the place of a picture that is silent for a second, so a slow machine tries again
    var sight = try await watch(ahead)
    for _ in 0..<9 where sight.longestHold > .milliseconds(900) { sight = try await watch(ahead) }
    // Then no further page is asked for while the last picture of a page is out
    for (seen, reach) in sight.requests { #expect(seen == reach) }
    // And the log tells the same of every moment
    for page in 1..<Self.pages {
      let pictures = (page - 1) * Self.perPage..<page * Self.perPage
      #expect(sight.asked[page] < sight.released[pictures.lowerBound], "page \(page + 1) came late")
      let next = page + ahead - 1
      if next < Self.pages {
        #expect(sight.asked[next] > sight.released[pictures.upperBound - 1], "page \(next + 1) came early")
      }
    }
  }

  private func watch(_ ahead: Int) async throws -> Sight {
    // Given a search of five pages, whose pictures are held back one by one
    let bench = try Bench()
    let gates = (0..<Self.pages * Self.perPage).map { _ in Gate() }
    let body = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg"))
    let pictures = (0..<Self.pages * Self.perPage).map {
      UnsplashOrigin.Picture(id: "p\($0)", description: "a lake", body: body)
    }
    let unsplash = try UnsplashOrigin(pictures: pictures, perPage: Self.perPage) { id in
      Int(id.dropFirst()).map { gates[$0] }
    }
    let process = try bench.start(
      [
        "prefetch", "--query", "lake", "--provider", "unsplash:\(unsplash.baseURL)",
        "--count", "\(pictures.count)", "--json",
      ], environment: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey])

    var sight = Sight()
    for page in 1...Self.pages {
      // When no picture of this page has come yet, then the pages within reach are asked for, and their pictures
      let reach = min(page + ahead - 1, Self.pages)
      let asked = await eventually(within: .seconds(30)) {
        unsplash.apiRequests.count >= reach && unsplash.imageRequests.count >= reach * Self.perPage
      }
      #expect(asked, "page \(page): \(unsplash.apiRequests.map(\.target)), \(process.said)")
      for picture in (page - 1) * Self.perPage..<page * Self.perPage {
        #expect(await eventually { process.printed.split(separator: "\n").count == picture })
        sight.requests.append((unsplash.apiRequests.count, reach))
        sight.released.append(.now)
        gates[picture].open()
      }
    }
    let run = await process.run()
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try run.pictures().count == Self.pages * Self.perPage)
    sight.asked = unsplash.apiRequests.map(\.request.arrival)
    for record in unsplash.imageRequests {
      guard let picture = Int(record.path.split(separator: "p").last ?? "") else { continue }
      sight.longestHold = max(sight.longestHold, sight.released[picture] - record.request.arrival)
    }
    return sight
  }
}
