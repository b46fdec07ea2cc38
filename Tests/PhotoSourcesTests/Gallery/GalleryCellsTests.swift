import Foundation
import Testing

@testable import PhotoSources
@testable import TestSupport
@testable import ThumbnailCore

@Suite struct GalleryCellsTests {
  private let offline = ProviderError.unreachable(provider: "test", reason: "no network")

  private func content(_ state: GalleryState, photos: Int = 2, hasMore: Bool = false) -> GalleryContent {
    GalleryContent(
      query: state == .idle ? nil : "lake", provider: "test", state: state,
      items: (0..<photos).map { GalleryItem(GalleryMachineDriver.photo($0)) }, total: 9, hasMore: hasMore)
  }

  private func kinds(_ content: GalleryContent) -> [String: [CellKind]] {
    Dictionary(
      uniqueKeysWithValues: StandardGalleryViewModel().sections(of: content).map { ($0.id, $0.cells.map(\.kind)) })
  }

  @Test func eachStateHasItsCells() {
    let photos: [CellKind] = [.photo, .photo]
    #expect(kinds(content(.idle, photos: 0)).isEmpty)
    #expect(kinds(content(.loading, photos: 0)) == ["header": [.header], "footer": [.loading]])
    #expect(
      kinds(content(.loaded, hasMore: true)) == ["header": [.header], "photos": photos, "footer": [.attribution]])
    #expect(kinds(content(.loaded))["footer"] == [.text, .attribution])
    #expect(kinds(content(.loadingNextPage))["footer"] == [.loading, .attribution])
    #expect(
      kinds(content(.empty(message: "nothing"), photos: 0)) == ["header": [.header], "notices": [.message]])
    #expect(kinds(content(.failed(offline)))["notices"] == [.message])
    #expect(kinds(content(.offline(offline)))["photos"] == photos)
  }

  @Test func messagesSayWhatHappenedAndWhetherToAskAgain() {
    func message(_ state: GalleryState) -> GalleryCell? {
      StandardGalleryViewModel().sections(of: content(state)).first { $0.id == "notices" }?.cells.first
    }
    #expect(message(.failed(offline)) == .message(.init(reason: .failed, text: offline.message, canRetry: true)))
    #expect(message(.empty(message: "no")) == .message(.init(reason: .empty, text: "no", canRetry: false)))
    guard case .message(let content) = message(.offline(offline)) else {
      Issue.record("being offline should be told")
      return
    }
    #expect(content.reason == .offline && content.text.hasPrefix("offline, with the pictures that are stored"))
  }

  @Test func theHeaderCounts() {
    func header(_ content: GalleryContent) -> GalleryCell? {
      StandardGalleryViewModel().sections(of: content).first { $0.id == "header" }?.cells.first
    }
    #expect(
      header(content(.loaded)) == .header(.init(name: "title", title: "lake", subtitle: "2 of 9 pictures from test")))
    var all = content(.loaded, photos: 1)
    (all.total, all.query, all.isOffline) = (nil, "", true)
    #expect(
      header(all) == .header(.init(name: "title", title: "Pictures", subtitle: "1 picture from test, offline")))
  }

  @Test func everyTermsAreNamedOnce() {
    var first = GalleryMachineDriver.photo(0)
    first.licence = PhotoLicence(name: "CC0", url: URL(string: "https://example.org/cc0"))
    var second = GalleryMachineDriver.photo(1)
    second.licence = PhotoLicence(name: "CC BY", url: nil)
    var content = content(.loaded, hasMore: true)
    content.items = [first, second, first].enumerated().map { GalleryItem($1, round: $0) }
    let footer = StandardGalleryViewModel().sections(of: content).last?.cells
    #expect(
      footer == [
        .attribution(.init(text: "Pictures from test, CC0", url: URL(string: "https://example.org/cc0"))),
        .attribution(.init(text: "Pictures from test, CC BY", url: nil)),
      ])
  }

  @Test func whatWasLeftOutIsTold() {
    var content = content(.loaded, hasMore: true)
    content.skipped = [SkippedItem(place: "item 3", reason: "no URL"), SkippedItem(place: "item 4", reason: "no URL")]
    let footer = StandardGalleryViewModel().sections(of: content).last?.cells
    #expect(footer?.first == .text(.init(name: "skipped", text: "left out: item 3: no URL, and 1 more")))
  }

  @Test func partsOfTheLayoutCanBeLeftOut() {
    let bare = StandardGalleryViewModel(hasHeader: false, hasNotices: false, hasAttribution: false)
    #expect(bare.sections(of: content(.failed(offline))).map(\.id) == ["photos"])
  }

  @Test func idsTellAllCellsApart() {
    let states: [GalleryState] = [.loaded, .loadingNextPage, .failed(offline), .offline(offline)]
    for state in states {
      let ids = StandardGalleryViewModel().sections(of: content(state)).flatMap { $0.cells.map(\.id) }
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
    return GallerySnapshot(content: content, sections: StandardGalleryViewModel().sections(of: content))
  }

  @Test func aFactoryRendersEveryCellOfASnapshot() throws {
    var factory = CellFactory<Int>()
    factory.register(.photo) { Int($0.photo.id) ?? -1 }
    factory.register(.header) { $0.title.count }
    factory.register(.text) { _ in 100 }
    factory.register(.attribution) { _ in 200 }
    factory.register(.text) { _ in 300 }
    let sections = try factory.render(snapshot())
    #expect(sections.map(\.id) == ["header", "photos", "footer"])
    #expect(sections.map(\.cells) == [[4], [0, 1], [300, 200]])
  }

  @Test(arguments: CellKind.allCases)
  func aKindWithoutARendererIsNamed(_ kind: CellKind) {
    var factory = CellFactory<String>()
    if kind != .photo { factory.register(.photo) { _ in "" } }
    if kind != .text { factory.register(.text) { _ in "" } }
    if kind != .header { factory.register(.header) { _ in "" } }
    if kind != .loading { factory.register(.loading) { _ in "" } }
    if kind != .message { factory.register(.message) { _ in "" } }
    if kind != .attribution { factory.register(.attribution) { _ in "" } }
    let cells: [GalleryCell] = [
      .photo(GalleryItem(GalleryMachineDriver.photo(1))), .text(.init(name: "a", text: "a")),
      .header(.init(name: "a", title: "a", subtitle: "")), .loading(.init(text: "a")),
      .message(.init(reason: .failed, text: "a", canRetry: true)), .attribution(.init(text: "a", url: nil)),
    ]
    #expect(cells.map(\.kind) == CellKind.allCases)
    let snapshot = GallerySnapshot(content: content(.loaded), sections: [GallerySection(id: "s", cells: cells)])
    #expect(throws: CellFactory<String>.Failure.unregistered(kind)) { try factory.render(snapshot) }
    #expect("\(CellFactory<String>.Failure.unregistered(kind))".contains(" \(kind.rawValue);"))
  }

  // MARK: Renderers

  private func awkward() -> GallerySnapshot {
    var photo = Photo(
      id: "<1>", provider: "te\"st", title: "a <b>bold</b>\u{1B}[31m\nlake & more", size: PixelSize(6000, 4000),
      author: "Ada's", authorURL: URL(string: "javascript:alert(1)"),
      pageURL: URL(string: "https://example.org/?a=1&b=2"),
      licence: PhotoLicence(name: "CC<0>", url: URL(string: "https://example.org/cc0")), source: Sample.source(1))
    photo.attribution = "Photo by Ada's"
    let content = GalleryContent(
      query: "<script>", provider: "te\"st", state: .failed(.badRequest(provider: "x", reason: "<i>")),
      items: [GalleryItem(photo)], hasMore: true)
    return GallerySnapshot(content: content, sections: StandardGalleryViewModel().sections(of: content))
  }

  @Test func plainTextHasALineForEachCell() throws {
    let text = try TextGallery().render(awkward())
    #expect(
      text == """
        <script>: 1 picture from te"st

        x does not accept the query: <i>

        - a <b>bold</b> [31m lake & more, 6000 × 4000, Photo by Ada's, <https://example.org/?a=1&b=2>

        Pictures from te"st, CC<0> <https://example.org/cc0>

        """)
    #expect(try TextGallery().render(snapshot(.idle, photos: 0)).isEmpty)
  }

  @Test func htmlIsEscapedAndComplete() throws {
    let html = try HTMLGallery().render(awkward())
    #expect(html.hasPrefix("<section class=\"gallery\">\n") && html.hasSuffix("</section>\n"))
    for text in [
      "<h1>&lt;script&gt;</h1>", "te&quot;st", "a &lt;b&gt;bold&lt;/b&gt;", "lake &amp; more", "Photo by Ada&#39;s",
      "href=\"https://example.org/?a=1&amp;b=2\"", "CC&lt;0&gt;", "src=\"https://images.example.org/1.jpg\"",
      "role=\"alert\">x does not accept the query: &lt;i&gt;</p>",
    ] {
      #expect(html.contains(text), "\(text)")
    }
    #expect(!html.contains("javascript:") && !html.contains("<script") && !html.contains("\u{1B}"))
    for tag in ["section", "div", "figure", "figcaption", "a", "p", "h1", "header"] {
      let opened = html.components(separatedBy: "<\(tag)>").count + html.components(separatedBy: "<\(tag) ").count
      #expect(opened - 2 == html.components(separatedBy: "</\(tag)>").count - 1, "\(tag)")
    }
  }

  @Test func aPageOfItsOwnHasAHead() throws {
    let page = try HTMLGallery { _ in nil }.page(awkward())
    #expect(page.hasPrefix("<!DOCTYPE html>\n") && page.hasSuffix("</html>\n"))
    #expect(page.contains("<title>&lt;script&gt;</title>") && !page.contains("<img"))
  }
}
