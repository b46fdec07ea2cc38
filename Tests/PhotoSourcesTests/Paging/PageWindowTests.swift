@testable import PhotoSources
@testable import ThumbnailCore

@Suite struct PageWindowTests {
  private static func photo(_ id: String) -> Photo {
    Photo(id: id, provider: "test", title: nil, location: .file(RawPath("/\(id)")))
  }

  private static func page(_ ids: String..., next: String?, skipped: Int = 0) -> PhotoPage {
    PhotoPage(
      photos: ids.map(photo), next: next.map { PageCursor($0) },
      skipped: Array(repeating: SkippedItem(place: "x", reason: "y"), count: skipped))
  }

  private static func emit(_ ids: String...) -> PageWindow.Action { .emit(ids.map(photo)) }

  @Test func theNextPageIsAskedForWhilePhotosAreBeingMade() {
    var window = PageWindow(ahead: 2)
    #expect(window.start() == [.requestPage(nil)])
    #expect(
      window.pageArrived(Self.page("a", "b", next: "2")) == [
        .requestPage(PageCursor("2")), Self.emit("a", "b"),
      ])
    // Three photos are more than one such page leaves beside it.
    #expect(window.pageArrived(Self.page("c", next: "3")) == [Self.emit("c")])
    #expect(window.photoDone() == [])
    #expect(window.photoDone() == [.requestPage(PageCursor("3"))])
    #expect(window.pageArrived(Self.page("d", next: nil)) == [Self.emit("d")])
    #expect(window.photoDone() == [])
    #expect(window.photoDone() == [.finish(failure: nil)])
    #expect(window.photoDone() == [])
  }

  @Test func onePhotoOfEachPageThatTakesLongHoldsNothingBack() {
    var window = PageWindow(ahead: 2)
    var actions = window.start()
    // Of every page the first photo is left open, until these would fill a page.
    for page in 1...4 {
      #expect(actions == [.requestPage(page == 1 ? nil : PageCursor("\(page)"))])
      let ids = (0..<4).map { "\(page)-\($0)" }
      actions = window.pageArrived(PhotoPage(photos: ids.map(Self.photo), next: PageCursor("\(page + 1)")))
      for _ in 1..<4 { actions += window.photoDone() }
      actions.removeAll { if case .emit = $0 { true } else { false } }
    }
    #expect(actions == [.requestPage(PageCursor("5"))])
    #expect(window.remaining == 4)
  }

  @Test func photosThatWaitForASilentServerDoNotCount() {
    var window = PageWindow(ahead: 1)
    _ = window.start()
    #expect(window.pageArrived(Self.page("a", "b", "c", next: "2")) == [Self.emit("a", "b", "c")])
    #expect(window.photoDone(uncounted: 1) == [])
    #expect(window.setUncounted(2) == [.requestPage(PageCursor("2"))])
    // One goes on, and counts again; the run still ends with the last of them.
    #expect(window.setUncounted(1) == [])
    #expect(window.pageArrived(Self.page("d", next: nil)) == [Self.emit("d")])
    for left in [1, 1] { #expect(window.photoDone(uncounted: left) == []) }
    #expect(window.photoDone() == [.finish(failure: nil)])
  }

  @Test func theSearchSaysWhatIsNewAndWhereItEnds() {
    for photos in [0, 1] {
      var window = PageWindow(PagedSearch(rules: .init(photos: photos)))
      #expect(window.start() == [photos == 0 ? .finish(failure: nil) : .requestPage(nil)])
    }
    var window = PageWindow()
    _ = window.start()
    #expect(window.pageArrived(Self.page(next: "2", skipped: 3)) == [.requestPage(PageCursor("2"))])
    #expect(window.pageArrived(Self.page(next: "3")) == [.finish(failure: nil)])
  }

  @Test func afterAFailureTheRunningPhotosAreFinished() {
    var window = PageWindow()
    _ = window.start()
    _ = window.pageArrived(Self.page("a", next: "2"))
    #expect(window.pageFailed(.unauthorized(provider: "test")) == [])
    #expect(window.photoDone() == [.finish(failure: .unauthorized(provider: "test"))])
    var first = PageWindow()
    _ = first.start()
    #expect(first.pageFailed(.notFound(provider: "a")) == [.finish(failure: .notFound(provider: "a"))])
  }

  @Test func idsOfLongAgoAreForgotten() {
    var set = RecentSet<Int>(capacity: 3)
    let isNew = [1, 2, 3, 1, 4, 1, 4].map { set.insert($0) }
    #expect(isNew == [true, true, true, false, true, true, false])
  }

  /// Whatever the order of events, with pages of any length that overlap.
  @Test(arguments: 0..<200) func theRulesHoldInAnyOrderOfEvents(seed: Int) {
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
    var running = 0
    var uncounted = 0
    var lengthBefore = 0
    var requested = 0
    var finished = 0
    var steps = 0
    while finished == 0, steps < 10_000 {
      steps += 1
      for action in actions {
        switch action {
        case .requestPage(let cursor):
          #expect(asked == nil, "two pages asked for at once")
          #expect(window.remaining - uncounted <= (ahead - 1) * lengthBefore + (window.remaining - running))
          asked = .some(cursor)
          requested += 1
        case .emit(let photos):
          #expect(!photos.isEmpty)
          emitted += photos.map(\.id)
          running += photos.count
        case .finish(let failure):
          #expect(failure == nil && running == 0 && asked == nil)
          finished += 1
        }
      }
      #expect(window.remaining == running)
      // Something can always happen: no event is missing.
      #expect(finished == 1 || asked != nil || running > 0)
      if let cursor = asked, running == 0 || Bool.random(using: &generator) {
        let index = cursor.flatMap { Int($0.token) } ?? 0
        asked = nil
        lengthBefore = pages[index].count
        actions = window.pageArrived(
          PhotoPage(
            photos: pages[index].map(Self.photo), next: index + 1 < pages.count ? PageCursor("\(index + 1)") : nil))
      } else if running > 0, Bool.random(using: &generator) {
        uncounted = Int.random(in: 0...running, using: &generator)
        actions = window.setUncounted(uncounted)
      } else if running > 0 {
        running -= 1
        uncounted = min(uncounted, running)
        actions = window.photoDone(uncounted: uncounted)
      } else {
        actions = []
      }
    }
    #expect(finished == 1)
    #expect(requested == pages.count)
    #expect(emitted == (0..<nextID).map { "\($0)" })
  }
}
