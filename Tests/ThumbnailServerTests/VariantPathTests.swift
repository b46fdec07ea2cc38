@testable import ThumbnailCore
@testable import ThumbnailServer

/// The options in the path of a thumbnail.
@Suite(.timeLimit(.minutes(5))) struct VariantPathTests {
  private static let longest = PixelSize.longestThumbnailSide
  private static let presets = ["card": "400x300,cover,webp", "small": "64"]

  private static func variant(_ text: String) throws -> Variant {
    try VariantPath(parsing: text, presets: presets).variant(accepted: .webp)
  }

  private static func expected(
    _ width: Int, _ height: Int, _ fit: Fit = .contain, _ gravity: Gravity = .centre, format: OutputFormat = .webp,
    quality: Int = 80, background: RGBColor? = nil, enlarges: Bool = false
  ) -> Variant {
    Variant(
      size: PixelSize(width, height), fit: fit, gravity: gravity, format: format, quality: quality,
      background: background, enlarges: enlarges)
  }

  @Test(arguments: [
    ("256", expected(256, 256)),
    ("256x100", expected(256, 100)),
    ("256x", expected(256, longest)),
    ("x256", expected(longest, 256)),
    ("size=20x30", expected(20, 30)),
    ("256,cover", expected(256, 256, .cover)),
    ("cover,256", expected(256, 256, .cover)),
    ("256,fit=fill", expected(256, 256, .fill)),
    ("256,cover,attention", expected(256, 256, .cover, .attention)),
    ("256,cover,gravity=north", expected(256, 256, .cover, .north)),
    ("256,jpeg", expected(256, 256, format: .jpeg)),
    ("256,jpg", expected(256, 256, format: .jpeg)),
    ("256,format=avif", expected(256, 256, format: .avif)),
    ("256,auto", expected(256, 256)),
    ("256,q=5", expected(256, 256, quality: 5)),
    ("256,quality=100", expected(256, 256, quality: 100)),
    ("256,dpr=2", expected(512, 512)),
    ("257,dpr=1.5", expected(386, 386)),
    ("256x,dpr=2", expected(512, longest)),
    // Earlier versions followed the client's hints.
    ("256x100,dpr=auto,width=auto", expected(256, 100)),
    ("9000,dpr=4", expected(longest, longest)),
    ("256,background=ff8000", expected(256, 256, background: RGBColor(red: 255, green: 128, blue: 0))),
    ("256,enlarge", expected(256, 256, enlarges: true)),
    ("card", expected(400, 300, .cover)),
    ("card,q=50,png", expected(400, 300, .cover, format: .png, quality: 50)),
    ("64,card", expected(400, 300, .cover)),
  ])
  func aListOfOptionsIsAVariant(text: String, expected: Variant) throws {
    #expect(try Self.variant(text) == expected)
  }

  @Test func theOutlineIsAFraming() throws {
    let variant = try Self.variant("40,fit=auto,crop=30x20+4+5,focus=0.25:1,dpr=2")
    var framing = Framing()
    framing.crop = Framing.Crop(x: 4, y: 5, size: PixelSize(30, 20))
    framing.focus = Framing.Focus(x: 0.25, y: 1)
    #expect(variant == Variant(size: PixelSize(80, 80), fit: .auto, format: .webp, framing: framing))
    for wrong in ["crop=30", "rotate=90", "flip=up", "focus=2:0", "focus=1", "pad=1", "extend"] {
      #expect(throws: InvalidValue.self, "\(wrong)") { try VariantPath(parsing: "40,\(wrong)") }
    }
  }

  @Test(arguments: [
    "", ",", "256,", "256,,cover", "cover", "0", "0x0", "-1", "+256", "256x256x256", "99999", "99999999999999999999",
    "256,tall", "256,fit=tall", "256,gravity=up", "256,gif", "256,format=svg", "256,q=0", "256,q=101", "256,q=x",
    "256,dpr=0", "256,dpr=9", "256,dpr=nan", "256,dpr=inf", "256,dpr=", "256,background=red", "256,width=400",
    "256,width=", "256,a=b", "256,card=", "256;cover", "256 ,cover", "２５６",
  ])
  func whatIsNoOptionIsNamedWithWhatToWrite(text: String) {
    #expect(throws: InvalidValue.self) { try VariantPath(parsing: text, presets: Self.presets) }
  }

  @Test func anErrorQuotesOnlyABeginning() throws {
    let text = "256," + String(repeating: "a", count: 5000)
    do {
      _ = try VariantPath(parsing: text)
      Issue.record("it was accepted")
    } catch {
      #expect(error.message.utf8.count < 200)
    }
  }

  @Test func presetsDoNotNameOthers() {
    #expect(throws: InvalidValue.self) {
      try VariantPath(parsing: "a", presets: ["a": "b", "b": "a"])
    }
  }
}
