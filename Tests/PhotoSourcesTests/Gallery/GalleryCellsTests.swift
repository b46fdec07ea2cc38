@testable import PhotoSources
@testable import ThumbnailCore

@Suite struct GalleryCellsTests {
  private let offline = ProviderError.unreachable(provider: "test", reason: "no network")

  private func content(_ state: GalleryState, photos: Int = 2, hasMore: Bool = false) -> GalleryContent {
    GalleryContent(
      query: state == .idle ? nil : "lake", provider: "test", state: state,
      items: (0..<photos).map { GalleryItem(GalleryMachineDriver.photo($0)) }, total: 9, hasMore: hasMore)
  }

  private func sections(_ content: GalleryContent) -> [GallerySection] {
    StandardGalleryViewModel().sections(of: content)
  }

  /// The cells of a section.
  private func cells(_ section: String, of content: GalleryContent) -> [GalleryCell] {
    sections(content).first { $0.id == section }?.cells ?? []
  }

  private enum Kind { case photo, text, header, loading, message, attribution }

  private static var kinds: CellFactory<Kind> {
    CellFactory(
      photo: { _ in Kind.photo }, text: { _ in .text }, header: { _, _ in .header }, loading: { _ in .loading },
      message: { _, _, _ in .message }, attribution: { _, _ in .attribution })
  }

  @Test func eachStateHasItsCells() {
    func kinds(_ content: GalleryContent) -> [String: [Kind]] {
      Dictionary(uniqueKeysWithValues: sections(content).map { ($0.id, $0.cells.map(Self.kinds.render)) })
    }
    let photos: [Kind] = [.photo, .photo]
    #expect(kinds(content(.idle, photos: 0)).isEmpty)
    #expect(kinds(content(.loading, photos: 0)) == ["header": [.header], "footer": [.loading]])
    #expect(
      kinds(content(.loaded, hasMore: true)) == ["header": [.header], "photos": photos, "footer": [.attribution]])
    #expect(kinds(content(.loaded))["footer"] == [.text, .attribution])
    #expect(kinds(content(.loadingNextPage))["footer"] == [.loading, .attribution])
    #expect(kinds(content(.empty(message: "nothing"), photos: 0)) == ["header": [.header], "notices": [.message]])
    #expect(kinds(content(.failed(offline)))["notices"] == [.message])
    #expect(kinds(content(.offline(offline)))["photos"] == photos)
  }

  @Test func messagesSayWhatHappenedAndWhetherToAskAgain() {
    let stored = "offline, with the pictures that are stored: \(offline.message)"
    for (state, message) in [
      (GalleryState.failed(offline), GalleryCell.message(.failed, text: offline.message, canRetry: true)),
      (.empty(message: "no"), .message(.empty, text: "no", canRetry: false)),
      (.offline(offline), .message(.offline, text: stored, canRetry: true)),
    ] {
      #expect(cells("notices", of: content(state)) == [message])
    }
  }

  @Test func theHeaderCounts() {
    func header(_ title: String, _ subtitle: String) -> [GalleryCell] {
      [.header(name: "title", title: title, subtitle: subtitle)]
    }
    #expect(cells("header", of: content(.loaded)) == header("lake", "2 of 9 pictures from test"))
    var all = content(.loaded, photos: 1)
    (all.total, all.query, all.isOffline) = (nil, "", true)
    #expect(cells("header", of: all) == header("Pictures", "1 picture from test, offline"))
  }

  @Test func everyTermsAreNamedOnce() {
    var (first, second) = (GalleryMachineDriver.photo(0), GalleryMachineDriver.photo(1))
    let terms = URL(string: "https://example.org/cc0")
    first.licence = PhotoLicence(name: "CC0", url: terms)
    second.licence = PhotoLicence(name: "CC BY", url: nil)
    var content = content(.loaded, hasMore: true)
    content.items = [first, second, first].enumerated().map { GalleryItem($1, round: $0) }
    #expect(
      cells("footer", of: content) == [
        .attribution(text: "Pictures from test, CC0", url: terms),
        .attribution(text: "Pictures from test, CC BY", url: nil),
      ])
  }

  @Test func whatWasLeftOutIsTold() {
    var content = content(.loaded, hasMore: true)
    content.skipped = [SkippedItem(place: "item 3", reason: "no URL"), SkippedItem(place: "item 4", reason: "no URL")]
    let text = "left out: item 3: no URL, and 1 more"
    #expect(cells("footer", of: content).first == .text(name: "skipped", text: text))
  }

  @Test func partsOfTheLayoutCanBeLeftOut() {
    let quiet = StandardGalleryViewModel(hasNotices: false)
    #expect(quiet.sections(of: content(.failed(offline))).map(\.id) == ["header", "photos", "footer"])
  }

  @Test func idsTellAllCellsApart() {
    let states: [GalleryState] = [.loaded, .loadingNextPage, .failed(offline), .offline(offline)]
    for state in states {
      let ids = sections(content(state)).flatMap { $0.cells.map(\.id) }
      #expect(Set(ids).count == ids.count)
    }
  }

  @Test func idsInWordsTellAllItemsApart() {
    let names = ["a b", "a~20b", "a.20b", "a\u{1}2", "a\u{12}", "a", "a~~1", "é", "e\u{301}"]
    let items = names.flatMap { name in
      (0...1).map {
        GalleryItem(Photo(id: name, provider: "test", title: nil, location: .file(RawPath("/"))), round: $0)
      }
    }
    let texts = items.map(\.id.description)
    #expect(Set(texts).count == texts.count)
    #expect(texts.allSatisfy { $0.utf8.allSatisfy { 0x20 < $0 && $0 < 0x7f } })
  }

  // MARK: Factory

  private func snapshot(_ state: GalleryState = .loaded, photos: Int = 2) -> GallerySnapshot {
    let content = content(state, photos: photos)
    return GallerySnapshot(content: content, sections: sections(content))
  }

  @Test func aFactoryRendersEveryCellOfASnapshot() {
    var factory = CellFactory(
      photo: { $0.photo.id }, text: { _ in "" }, header: { "\($0), \($1)" }, loading: { $0 },
      message: { "\($0) \($1) \($2)" }, attribution: { text, _ in text })
    factory.text = { "– \($0) –" }
    let sections = factory.render(snapshot())
    #expect(sections.map(\.id) == ["header", "photos", "footer"])
    #expect(
      sections.map(\.cells) == [
        ["lake, 2 of 9 pictures from test"], ["0", "1"], ["– That is all –", "Pictures from test"],
      ])
    #expect(factory.render(.message(.failed, text: "no", canRetry: true)) == "failed no true")
    #expect(factory.render(.loading("Loading")) == "Loading")
  }
}
