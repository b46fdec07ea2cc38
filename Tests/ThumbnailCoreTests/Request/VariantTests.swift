@testable import HTTPSemantics
@testable import ThumbnailCore

@Suite struct VariantTests {
  static let samples = [
    Variant(size: PixelSize(400, 300), background: .white),
    Variant(size: PixelSize(1, 16383), fit: .contain, format: .avif, quality: 1, enlarges: true),
    Variant(size: PixelSize(200, 200), fit: .cover, gravity: .attention, format: .webp, quality: 100),
    Variant(size: PixelSize(9, 9), format: .same, effort: 9, metadata: .profile, frames: .all),
    Variant(size: PixelSize(9, 9), format: .jxl, metadata: .profile),
    Variant(size: PixelSize(9, 9), effort: 3, frames: .all),
    Variant(size: PixelSize(9, 9), processor: "blur-3"),
    Variant(size: PixelSize(9, 9), processor: "a.B_2"),
    Variant(size: PixelSize(9, 9), framing: framing), Variant(size: PixelSize(9, 9), processor: "a", framing: framing),
  ]

  /// Every part of a framing.
  private static let framing = {
    var framing = Framing()
    framing.crop = Framing.Crop(PixelSize(9, 300), at: .southwest)
    (framing.focus, framing.enlargesUnlessBoth) = (Framing.Focus(x: 0.25, y: 1), true)
    return framing
  }()

  @Test(arguments: samples) func aTokenReadsBackAsTheSameVariant(variant: Variant) {
    #expect(Variant(token: variant.token) == variant)
  }

  @Test(arguments: [
    "", "1;400x400", "0;400x400;cover;centre;auto;80;fast;-;0", "1;400x400;cover;nowhere;auto;80;fast;-;0",
    "1;400x400;cover;centre;auto;80;good;-;0;-;none;first;display",
    "1;400x400;cover;centre;auto;80;good;-;0;-;none;first;moon",
    "1;400x400;cover;centre;auto;80;good;-;0;-;none;first;display;",
    "1;400x400;cover;centre;auto;80;good;-;0;-;none;first;display;a b",
    "1;400x400;cover;centre;auto;80;good;-;0;-;none;first;linear", "1;400x400;cover;centre;auto;80;best;-;0",
    // What could be read, but is not how a variant is written.
    "1;0400x400;cover;centre;auto;80;good;-;0", "1;400x400;cover;centre;auto;+80;good;-;0",
    "1;400x400;contain;attention;auto;80;good;-;0", "1;400x400;cover;centre;auto;80;good;-;2",
    "1;400x400;cover;centre;auto;80;good;-;0;-;none;first",
    "1;400x400;cover;centre;auto;80;good;-;0;@", "1;400x400;cover;centre;auto;80;good;-;0;@t9",
    "1;400x400;cover;centre;auto;80;good;-;0;@z1", "1;400x400;cover;centre;auto;80;good;-;0;@x1",
    "1;400x400;cover;centre;auto;80;good;-;0;@c1:1:nowhere:0:0:1", "1;400x400;cover;centre;auto;80;good;-;0;@fnone",
  ])
  func aForeignTokenIsNoVariant(token: String) {
    #expect(Variant(token: token) == nil)
  }

  /// Thumbnails are stored under these.
  @Test func tokensStayAsTheyAre() {
    #expect(Variant(size: PixelSize(400, 300)).token == "1;400x300;contain;centre;auto;80;good;-;0")
    let cover = Variant(size: PixelSize(400, 300), fit: .cover, gravity: .north)
    #expect(cover.token == "1;400x300;cover;north;auto;80;good;-;0")
    let rare = Variant(size: PixelSize(400, 300), metadata: .profile, frames: .all)
    #expect(rare.token == "1;400x300;contain;centre;auto;80;good;-;0;-;profile;all")
    let processed = Variant(size: PixelSize(400, 300), processor: "blur-3")
    #expect(processed.token == "1;400x300;contain;centre;auto;80;good;-;0;-;none;first;display;blur-3")
    var framed = Variant(size: PixelSize(400, 300))
    framed.framing.crop = Framing.Crop(x: 10, y: 20, size: PixelSize(300, 200))
    #expect(framed.token == "1;400x300;contain;centre;auto;80;good;-;0;@c300.0:200.0:northwest:10.0:20.0:1")
    framed.framing.crop = Framing.Crop(PixelSize(30, 20), at: .centre)
    framed.framing.focus = Framing.Focus(x: 0.25, y: 1)
    let token = "1;400x300;contain;centre;auto;80;good;-;0;@c30.0:20.0:centre:0.0:0.0:1,pfocus:0.25:1.0"
    #expect(framed.token == token && Variant(token: token) == framed)
  }

  @Test func everyValueTellsVariantsApart() {
    let base = Variant(size: PixelSize(400, 400))
    var others = [Variant](repeating: base, count: 12)
    others[0].size = PixelSize(400, 401)
    others[1].fit = .cover
    others[2].gravity = .north
    others[3].format = .webp
    others[4].quality = 81
    others[6].background = .white
    others[7].enlarges = true
    others[8].effort = 4
    others[9].metadata = .profile
    others[10].frames = .all
    others[5].processor = "blur-3"
    others[11].framing.enlargesUnlessBoth = true
    #expect(Set(others.map(\.token) + [base.token]).count == 13)
    let source = SourceKey(identity: "a", headers: [])
    #expect(Set((others + [base]).map { CacheKey(source: source, variant: $0) }).count == 13)
  }

  @Test func gravityMeansNothingWithoutCover() {
    let north = Variant(size: PixelSize(4, 4), fit: .contain, gravity: .north)
    #expect(north == Variant(size: PixelSize(4, 4), fit: .contain))
  }

  @Test func aVariantShrinksFromOneTwiceAsLargeOfTheSameAspect() {
    let small = Variant(size: PixelSize(200, 150))
    #expect(small.canBeShrunk(from: Variant(size: PixelSize(400, 300))))
    #expect(!small.canBeShrunk(from: Variant(size: PixelSize(399, 299))))
    #expect(!small.canBeShrunk(from: Variant(size: PixelSize(500, 300))))
    #expect(!small.canBeShrunk(from: Variant(size: PixelSize(400, 300), fit: .cover)))
    #expect(!small.canBeShrunk(from: Variant(size: PixelSize(400, 300), quality: 60)))
    // A watermark would be shrunk, too.
    let marked = Variant(size: PixelSize(200, 150), processor: "mark")
    #expect(!marked.canBeShrunk(from: Variant(size: PixelSize(400, 300), processor: "mark")))
  }

  @Test func aProcessorsNameIsOfPlainCharacters() {
    for name in ["", "a b", "a;b", "ä", String(repeating: "a", count: 65)] {
      #expect(Variant(size: PixelSize(9, 9), processor: name).problem?.contains("'\(name)'") == true)
    }
    #expect(Variant(size: PixelSize(9, 9), processor: "Blur-3_x.2").problem == nil)
  }
}

@Suite struct ImageSourceTests {
  private let url: URL

  init() throws { url = try #require(URL(string: "https://example.org/a.jpg")) }

  @Test func theSameURLIsTheSamePicture() {
    #expect(ImageSource(url) == ImageSource(url))
    #expect(ImageSource(url).key != ImageSource(url.appendingPathComponent("b")).key)
  }

  @Test func differentCredentialsAreDifferentPictures() {
    let anna = ImageSource(url, headers: [HTTPHeader("Authorization", "Bearer anna")])
    let bert = ImageSource(url, headers: [HTTPHeader("authorization", "Bearer bert")])
    #expect(Set([anna.key, bert.key, ImageSource(url).key]).count == 3)
    #expect(anna.key == ImageSource(url, headers: [HTTPHeader("AUTHORIZATION", "Bearer anna")]).key)
  }

  @Test func theUserAgentIsNoCredential() {
    #expect(ImageSource(url, headers: [HTTPHeader("User-Agent", "x")]).key == ImageSource(url).key)
  }

  @Test func anIdentityOutlivesTheURL() {
    let other = url.appending(queryItems: [URLQueryItem(name: "ixid", value: "2")])
    #expect(ImageSource(url, identity: "photo:1").key == ImageSource(other, identity: "photo:1").key)
  }

  @Test func aChangedFileIsAnotherPicture() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("source-\(UUID()).jpg")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data([1]).write(to: file)
    let before = ImageSource.file(at: file.path)
    #expect(before.key == ImageSource.file(at: file.path).key)
    try Data([1, 2]).write(to: file)
    #expect(before.key != ImageSource.file(at: file.path).key)
    #expect(before.isUserFile)
  }
}

@Suite struct ByteSizeTests {
  @Test(arguments: [
    ("4096", 4096), ("256MiB", 256 << 20), ("1.5 GB", 1_500_000_000), ("64k", 65536), ("2g", 2 << 30), ("0", 0),
    ("10kb", 10_000),
  ])
  func textIsReadAsBytes(text: String, bytes: Int) {
    #expect(ByteSize(parsing: text)?.bytes == bytes)
  }

  @Test(arguments: ["", "MiB", "-1", "1.2.3M", "1e9", "12 apples", "999999999999TiB", "nan", "٣"])
  func anythingElseIsRefused(text: String) {
    #expect(ByteSize(parsing: text) == nil)
  }

  @Test func sizesAreWrittenInTheLargestUnitThatFits() {
    #expect(ByteSize(bytes: 1023).description == "1023 B")
    #expect(ByteSize.mebibytes(12).description == "12.0 MiB")
  }

  @Test(arguments: ["", "400", "400x", "x400", "400x0", "-4x4", "4x4x4", "4X4", "٤x٤", "99999999999999999999x1"])
  func aSizeThatIsNoneIsRefused(text: String) {
    #expect(PixelSize(parsing: text) == nil)
  }
}
