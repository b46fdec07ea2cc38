import Foundation
import Testing

@testable import Thumbnailer

@Suite struct PageWindowTests {
  private static func photo(_ id: String) -> Photo {
    Photo(id: id, provider: "test", title: nil, location: .file(path: "/\(id)"))
  }

  private static func page(_ ids: String..., next: String?, skipped: Int = 0) -> PhotoPage {
    PhotoPage(
      photos: ids.map(photo), next: next.map { PageCursor($0) },
      skipped: Array(repeating: SkippedItem(place: "x", reason: "y"), count: skipped))
  }

  private static func emit(_ ids: String..., page: Int) -> PageWindow.Action { .emit(ids.map(photo), page: page) }

  @Test func theNextPageIsAskedForWhilePhotosAreBeingMade() {
    var window = PageWindow(ahead: 2)
    #expect(window.start() == [.requestPage(nil)])
    #expect(
      window.pageArrived(Self.page("a", "b", next: "2")) == [
        .requestPage(PageCursor("2")), Self.emit("a", "b", page: 1),
      ])
    // Two pages are outstanding: the third has to wait until one of them is wholly done.
    #expect(window.pageArrived(Self.page("c", next: "3")) == [Self.emit("c", page: 2)])
    #expect(window.photoDone(page: 1) == [])
    #expect(window.photoDone(page: 1) == [.requestPage(PageCursor("3"))])
    #expect(window.pageArrived(Self.page("d", next: nil)) == [Self.emit("d", page: 3)])
    #expect(window.photoDone(page: 3) == [])
    #expect(window.photoDone(page: 2) == [.finish(failure: nil)])
    #expect(window.photoDone(page: 2) == [])
  }

  @Test func aServerThatRunsInCirclesComesToAnEnd() {
    // Each page has a cursor of its own, and none has anything new.
    var list = PageWindow(ahead: 9)
    var server = PageWindow(ahead: 9, endsAtRepetition: true)
    _ = (list.start(), server.start())
    _ = (list.pageArrived(Self.page("a", next: "2")), server.pageArrived(Self.page("a", next: "2")))
    #expect(list.pageArrived(Self.page("a", next: "3")) == [.requestPage(PageCursor("3"))])
    #expect(server.pageArrived(Self.page("a", next: "3")) == [])
    #expect(server.photoDone(page: 1) == [.finish(failure: nil)])
  }

  @Test func onePhotoThatTakesLongDoesNotHoldTheOthers() {
    var window = PageWindow(ahead: 2)
    _ = window.start()
    _ = window.pageArrived(Self.page("slow", next: "2"))
    _ = window.pageArrived(Self.page("b", next: "3"))
    #expect(window.photoDone(page: 2) == [.requestPage(PageCursor("3"))])
  }

  @Test func anEmptyPageIsTheEndEvenWithACursor() {
    var window = PageWindow()
    _ = window.start()
    #expect(window.pageArrived(Self.page(next: "2")) == [.finish(failure: nil)])
  }

  @Test func aPageOnlyOfSkippedItemsIsNotTheEnd() {
    var window = PageWindow()
    _ = window.start()
    #expect(window.pageArrived(Self.page(next: "2", skipped: 3)) == [.requestPage(PageCursor("2"))])
  }

  @Test func photosThatComeTwiceAreHandedOutOnce() {
    var window = PageWindow(ahead: 9)
    _ = window.start()
    _ = window.pageArrived(Self.page("a", "b", "a", next: "2"))
    #expect(
      window.pageArrived(Self.page("b", "c", next: "3")) == [
        .requestPage(PageCursor("3")), Self.emit("c", page: 2),
      ])
    #expect(window.pageArrived(Self.page("c", next: "4")) == [.requestPage(PageCursor("4"))])
    #expect(window.duplicates == 3)
  }

  @Test func whereRepetitionsAreMeantEachIsHandedOut() {
    var window = PageWindow(ahead: 9, photoLimit: 4, keepsRepetitions: true)
    _ = window.start()
    #expect(
      window.pageArrived(Self.page("a", "a", next: "2")) == [
        .requestPage(PageCursor("2")), Self.emit("a", "a", page: 1),
      ])
    #expect(window.pageArrived(Self.page("a", "a", "a", next: "3")) == [Self.emit("a", "a", page: 2)])
    #expect(window.duplicates == 0 && window.photosEmitted == 4)
  }

  @Test func pagesThatLeadInACircleEnd() {
    var window = PageWindow(ahead: 9)
    _ = window.start()
    _ = window.pageArrived(Self.page("a", next: "2"))
    _ = window.pageArrived(Self.page("b", next: "3"))
    #expect(window.pageArrived(Self.page("c", next: "2")) == [Self.emit("c", page: 3)])
  }

  @Test func limitsOfPagesAndPhotosAreKept() {
    var pages = PageWindow(ahead: 9, pageLimit: 1)
    _ = pages.start()
    #expect(pages.pageArrived(Self.page("a", next: "2")) == [Self.emit("a", page: 1)])

    var photos = PageWindow(ahead: 9, photoLimit: 3)
    _ = photos.start()
    _ = photos.pageArrived(Self.page("a", "b", next: "2"))
    #expect(photos.pageArrived(Self.page("a", "c", "d", next: "3")) == [Self.emit("c", page: 2)])

    var none = PageWindow(photoLimit: 0)
    #expect(none.start() == [.finish(failure: nil)])
  }

  @Test func afterAFailureTheRunningPhotosAreFinished() {
    var window = PageWindow()
    _ = window.start()
    _ = window.pageArrived(Self.page("a", next: "2"))
    #expect(window.pageFailed(.unauthorized(provider: "test")) == [])
    #expect(window.photoDone(page: 1) == [.finish(failure: .unauthorized(provider: "test"))])
    var first = PageWindow()
    _ = first.start()
    #expect(first.pageFailed(.notFound(provider: "a")) == [.finish(failure: .notFound(provider: "a"))])
  }

  @Test func stoppingAsksForNoMorePages() {
    var window = PageWindow()
    _ = window.start()
    _ = window.pageArrived(Self.page("a", next: "2"))
    #expect(window.stop() == [])
    #expect(window.pageArrived(Self.page("b", next: "3")) == [])
    #expect(window.photoDone(page: 1) == [.finish(failure: nil)])
    #expect(window.stop() == [])
  }

  @Test func idsOfLongAgoAreForgotten() {
    var set = RecentSet<Int>(capacity: 3)
    let isNew = [1, 2, 3, 1, 4, 1, 4].map { set.insert($0) }
    #expect(isNew == [true, true, true, false, true, true, false])
  }

  /// Whatever the order of events, with pages of any length that overlap.
  @Test(arguments: 0..<200)
  func theRulesHoldInAnyOrderOfEvents(seed: Int) {
    var generator = SplitMix(state: UInt64(seed))
    let ahead = Int.random(in: 1...4, using: &generator)
    var pages: [[String]] = []
    var nextID = 0
    for _ in 0..<Int.random(in: 1...12, using: &generator) {
      let new = (0..<Int.random(in: 1...5, using: &generator)).map { "\(nextID + $0)" }
      nextID += new.count
      pages.append((pages.last.map { Array($0.suffix(Int.random(in: 0...1, using: &generator))) } ?? []) + new)
    }
    var window = PageWindow(ahead: ahead)
    var actions = window.start()
    var asked: PageCursor??
    var emitted: [String] = []
    var running: [Int] = []
    var requested = 0
    var finished = 0
    var steps = 0
    while finished == 0, steps < 10_000 {
      steps += 1
      for action in actions {
        switch action {
        case .requestPage(let cursor):
          #expect(asked == nil, "two pages asked for at once")
          asked = .some(cursor)
          requested += 1
        case .emit(let photos, let page):
          #expect(!photos.isEmpty)
          emitted += photos.map(\.id)
          running += Array(repeating: page, count: photos.count)
        case .finish(let failure):
          #expect(failure == nil && running.isEmpty && asked == nil)
          finished += 1
        }
      }
      let outstanding = Set(running).count + (asked == nil ? 0 : 1)
      #expect(outstanding <= ahead && window.outstandingPages == outstanding)
      // Something can always happen: no event is missing.
      #expect(finished == 1 || asked != nil || !running.isEmpty)
      if let cursor = asked, running.isEmpty || Bool.random(using: &generator) {
        let index = cursor.flatMap { Int($0.token) } ?? 0
        asked = nil
        actions = window.pageArrived(
          PhotoPage(
            photos: pages[index].map(Self.photo), next: index + 1 < pages.count ? PageCursor("\(index + 1)") : nil))
      } else if let place = running.indices.randomElement(using: &generator) {
        actions = window.photoDone(page: running.remove(at: place))
      }
    }
    #expect(finished == 1)
    #expect(requested == pages.count)
    #expect(emitted == (0..<nextID).map { "\($0)" })
  }
}

@Suite struct PageWindowIdentityTests {
  private func photo(_ id: String, at url: String) throws -> Photo {
    Photo(id: id, provider: "urls", source: ImageSource(try #require(URL(string: url))))
  }

  @Test func idsThatOnlyLookAlikeAreTwoPhotosAndSoAreTwoPlacesUnderOneID() throws {
    let photos = [
      try photo("e\u{301}", at: "https://example.org/1"), try photo("\u{e9}", at: "https://example.org/1"),
      try photo("A", at: "https://example.org/2"), try photo("A", at: "https://example.org/3"),
      try photo("A", at: "https://example.org/3"),
    ]
    var window = PageWindow()
    _ = window.start()
    _ = window.pageArrived(PhotoPage(photos: photos, next: nil))
    #expect(window.photosEmitted == 4)
    #expect(window.duplicates == 1)
  }
}
