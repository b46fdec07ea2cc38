@testable import PhotoSources
@testable import ThumbnailCore

@Suite struct PagedSearchTests {
  private func page(_ numbers: Int..., next: String?, skipped: Int = 0) -> PhotoPage {
    PhotoPage(
      photos: numbers.map { GalleryMachineDriver.photo($0) }, next: next.map { PageCursor($0) },
      skipped: Array(repeating: SkippedItem(place: "x", reason: "y"), count: skipped))
  }

  /// The ids of the new photos of each page, for as long as the search goes on.
  private func run(_ pages: [PhotoPage], _ rules: PagedSearch.Rules = .init()) -> [[String]] {
    var search = PagedSearch(rules: rules)
    var new: [[String]] = []
    for page in pages where search.next != .ended { new.append(search.append(page).map(\.id)) }
    return new
  }

  @Test func aPhotoThatCameBeforeIsDroppedWhateverPageItCameWith() {
    let new = run([page(1, 1, 2, next: "a"), page(2, 3, next: "b"), page(1, 4, next: nil)])
    #expect(new == [["1", "2"], ["3"], ["4"]])
  }

  @Test func aListKeepsItsRepeatsAndNeverEndsBecauseOfThem() {
    let pages = (0..<9).map { page(1, next: "\($0)") }
    #expect(run(pages, .init(keepsRepeats: true, mostBarrenPages: 1)).count == 9)
  }

  @Test(arguments: 1...4) func asManyBarrenPagesInARowEndASearch(most: Int) {
    let barren = (0..<9).map { page(1, next: "\($0)") }
    #expect(run(barren, .init(mostBarrenPages: most)).count == 1 + most)
    let broken = [page(1, next: "a"), page(1, next: "b"), page(2, next: "c"), page(1, next: "d"), page(3, next: nil)]
    #expect(run(broken, .init(mostBarrenPages: most)).count == (most == 1 ? 2 : 5))
  }

  @Test func pagesOfUnusableItemsAreBarrenOnlyWhereTheyCount() {
    let pages = (0..<5).map { page(next: "\($0)", skipped: 1) } + [page(1, next: nil)]
    #expect(run(pages).count == 3)
    #expect(run(pages, .init(countsUnusablePages: false)).last == ["1"])
  }

  @Test func aSearchEndsAtAnEmptyPageAndAtACursorSeenBefore() {
    #expect(run([page(next: "a"), page(1, next: nil)]) == [[]])
    #expect(run([page(1, next: "a"), page(2, next: "b"), page(3, next: "a"), page(4, next: nil)]).count == 3)
  }

  @Test func theLimitsEndASearchAndCutItsLastPage() {
    let pages = [page(1, 2, next: "a"), page(2, 3, 4, next: "b"), page(5, next: nil)]
    #expect(run(pages, .init(pages: 2)) == [["1", "2"], ["3", "4"]])
    #expect(run(pages, .init(photos: 3)) == [["1", "2"], ["3"]])
    #expect(run(pages, .init(pages: 0)).isEmpty && run(pages, .init(photos: 0)).isEmpty)
  }

  @Test func onlyTheLastPhotosAreRemembered() {
    let pages = [page(1, next: "a"), page(2, next: "b"), page(3, next: "c"), page(1, next: nil)]
    #expect(run(pages, .init(memory: 2)).last == ["1"])
    #expect(run(pages).last == [])
  }

  @Test func idsThatOnlyLookAlikeAreTwoPhotosAndSoAreTwoPlacesUnderOneID() throws {
    let places = [("e\u{301}", 1), ("\u{e9}", 1), ("A", 2), ("A", 3), ("A", 3)]
    let photos = try places.map { id, number in
      let url = try #require(URL(string: "https://example.org/\(number)"))
      return Photo(id: id, provider: "urls", source: ImageSource(url))
    }
    var search = PagedSearch()
    #expect(search.append(PhotoPage(photos: photos, next: nil)).count == 4)
  }

  @Test func inAnotherRoundTheSamePhotosAreNew() {
    var search = PagedSearch()
    let photos = (1...2).map { GalleryMachineDriver.photo($0) }
    #expect(search.append(page(1, next: nil)).count == 1)
    #expect(search.appendCached(photos, round: 0).map(\.id) == ["2"])
    #expect(search.appendCached(photos, round: 1).count == 2)
  }

  @Test func theSourceDecidesHowASearchGoesOnBehindAStoredPage() {
    var search = PagedSearch()
    _ = search.append(page(1, 2, next: "stored"))
    #expect(search.renew(page(2, 3, next: "fresh"), pagesAgo: 1).map(\.id) == ["3"])
    #expect(search.next == .page(PageCursor("fresh")) && search.pages == 1)
    _ = search.append(page(4, next: "later"))
    #expect(search.renew(page(5, next: "fresher"), pagesAgo: 2).map(\.id) == ["5"])
    #expect(search.next == .page(PageCursor("later")))
  }

  @Test func pagesThatRepeatWhatTheCacheHasShownAreNoEnd() {
    var search = PagedSearch()
    #expect(search.appendCached((1...4).map { GalleryMachineDriver.photo($0) }, round: 0).count == 4)
    for number in 1...4 { #expect(search.append(page(number, next: "\(number)")).isEmpty) }
    #expect(search.append(page(5, next: nil)).map(\.id) == ["5"])
  }
}
