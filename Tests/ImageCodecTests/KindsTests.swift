@testable import CodecTestSupport
@testable import ImageCodec

/// Kinds of files that were shown wrongly or called damaged, judged by the colours that they were made of.
@Suite(.timeLimit(.minutes(5))) struct KindsTests {
  private let quarters = TestPicture.quarters(80, 64)

  private func word(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8 & 255)] }
  private func long(_ number: Int) -> [UInt8] { word(number) + word(number >> 16) }

  /// The pixels that a helper makes at each size, all in one request.
  private func pixels(_ file: [UInt8], _ format: ImageFormat, _ sides: [Int] = [40]) async throws -> [DecodedPixels] {
    let variants = sides.map { Variant(size: PixelSize($0, $0), fit: .contain, format: .png) }
    return try await HelperBench().render(file, format, variants).map { try DecodedPixels($0.get().data) }
  }

  /// A TIFF of one strip with these fields of one number, 3 samples of 8 bits unless others are given.
  private func tiff(_ strip: [UInt8], _ fields: [(tag: Int, value: Int)]) -> [UInt8] {
    let start = 8 + strip.count + strip.count % 2
    var all = [256: 80, 257: 64, 259: 1, 262: 2, 273: 8, 277: 3, 278: 64, 279: strip.count]
    for (tag, value) in fields { all[tag] = value < 0 ? nil : value }
    let entries = all.sorted { $0.key < $1.key }.map { word($0.key) + word(4) + long(1) + long($0.value) }
    let bits = word(258) + word(3) + long(3) + long(start + 6 + 12 * (entries.count + 1))
    let directory = (entries + [bits]).sorted { Int($0[0]) | Int($0[1]) << 8 < Int($1[0]) | Int($1[1]) << 8 }
    return Array("II*\0".utf8) + long(start) + strip + [UInt8](repeating: 0, count: strip.count % 2)
      + word(directory.count) + directory.joined() + long(0) + word(8) + word(8) + word(8)
  }

  /// A JPEG with its frame header changed: the marker, and bytes from the precision on.
  private func jpeg(_ marker: UInt8, _ changes: [Int: UInt8] = [:]) throws -> [UInt8] {
    var file = try quarters.encoded("jpegsave_buffer", "strip=true")
    let frame = try #require((0..<file.count).first { file[$0] == 0xFF && file[$0 + 1] == 0xC0 })
    file[frame + 1] = marker
    for (place, byte) in changes { file[frame + 4 + place] = byte }
    return file
  }

  @Test func whatIsWholeButOfAKindThatIsNotReadIsUnsupported() async throws {
    let lossless: [UInt8] = [0xC3, 0xC5, 0xC6, 0xC7, 0xCB, 0xCD, 0xCE, 0xCF, 0xF7]
    var files = try lossless.map { ("JPEG \($0)", ImageFormat.jpeg, try jpeg($0)) }
    files += [
      ("12 bits", .jpeg, try jpeg(0xC1, [0: 12])), ("no height", .jpeg, try jpeg(0xC0, [1: 0, 2: 0])),
      (
        "CgBI", .png,
        TestPNG.signature + TestPNG.chunk("CgBI", [0x50, 0, 0x20, 2]) + (try quarters.encoded().dropFirst(8))
      ),
    ]
    for photometric in [-1, 9, 10] {
      files.append(("TIFF \(photometric)", .tiff, tiff(quarters.pixels, [(262, photometric)])))
    }
    for (bits, compression) in [(64, 0), (0, 4), (0, 5)] {
      let header = long(40) + long(4) + long(4) + word(1) + word(bits) + long(compression) + long(128) + long(0)
      let file = Array("BM".utf8) + long(182) + long(0) + long(54) + header + long(0) + long(0) + long(0)
      files.append(("BMP \(bits) \(compression)", .bmp, file + [UInt8](repeating: 99, count: 128)))
    }
    let key = "<" + String(repeating: "5A", count: 32) + ">"
    let pdf = """
      %PDF-1.4
      1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
      2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
      3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>> endobj
      4 0 obj <</Filter/Standard/V 1/R 2/O \(key)/U \(key)/P -4>> endobj
      trailer <</Root 1 0 R/Size 5/Encrypt 4 0 R/ID[<5A><5A>]>>
      startxref
      0
      %%EOF
      """
    files.append(("PDF", .pdf, Array(pdf.utf8)))
    for (name, format, file) in files {
      #expect(try await HelperBench().failure(file, format)?.kind == "unsupported", "\(name)")
    }
    let open = pdf.replacing("/Encrypt 4 0 R", with: "")
    #expect(try await HelperBench().failure(Array(open.utf8), .pdf) == nil)
  }

  @Test(arguments: ["off", "on"]) func jpegOfTIFF6IsShown(subsampling: String) async throws {
    let strip = try quarters.encoded("jpegsave_buffer", "Q=95,strip=true,subsample-mode=\(subsampling)")
    let file = tiff(
      strip, [(259, 6), (262, 6), (513, 8), (514, strip.count), (530, subsampling == "on" ? 0x2_0002 : 0x1_0001)])
    // YCbCrSubSampling has two numbers of 16 bits.
    let field = try #require((0..<file.count - 8).last { Array(file[$0..<$0 + 8]) == word(530) + word(4) + long(1) })
    let bytes = Array(file[..<field]) + word(530) + word(3) + long(2) + file[(field + 8)...]
    for made in try await pixels(bytes, .tiff, [20, 40, 80]) { made.expectQuarters(subsampling, tolerance: 16) }
  }

  @Test func jpeg2000WithTilePartsBetweenThoseOfOtherTilesIsRefused() async throws {
    let whole = try quarters.encoded("jp2ksave_buffer", "tile-width=32,tile-height=32,lossless=true")
    var place = try #require((0..<whole.count).first { whole[$0] == 0xFF && whole[$0 + 1] == 0x90 })
    let start = try #require((0..<place).first { whole[$0...].starts(with: [0xFF, 0x4F, 0xFF, 0x51]) })
    let head = whole[start..<place]
    var (empty, full): ([UInt8], [UInt8]) = ([], [])
    while whole[place + 1] == 0x90 {
      let length = whole[place + 6..<place + 10].reduce(0) { $0 << 8 | Int($1) }
      let tile = whole[place..<place + length]
      // A first part without data, of a number of parts that is not told, and a second one with all.
      empty += Array(tile.prefix(6)) + [0, 0, 0, 14, 0, 0, 0xFF, 0x93]
      full += Array(tile.prefix(10)) + [1, 2] + tile.dropFirst(12)
      place += length
    }
    let file = Array(head) + empty + full
    await #expect(throws: CodecError.unsupported("a JPEG 2000 of interleaved tiles")) {
      try await pixels(file + [0xFF, 0xD9], .jpeg2000)
    }
  }

  @Test(arguments: [
    "", "width='100'", "height='50'", "width='100%'", "width='100%' height='50'", "width='100' height='100%'",
    "width='100%' height='100%'", "width='auto' height='auto'", "width='' height=''", "width = \"100%\"\n height='9%'",
    "width='100px' height='50px'", "style='width:100px;height:50px'", "viewBox='40 30 100 50'",
    "viewBox='40 30 100 50' width='400'",
  ])
  func aDrawingFillsItsThumbnail(attributes: String) async throws {
    let (x, y) = attributes.contains("px") ? (0, 0) : (40, 30)
    let parts = [("red", 0, 0), ("lime", 50, 0), ("blue", 0, 25), ("yellow", 50, 25)].map { colour, right, down in
      "<rect x='\(x + right)' y='\(y + down)' width='50' height='25' fill='\(colour)'/>"
    }
    let mask = "<mask id='m'><rect width='999' height='999' fill='white'/></mask><g mask='url(#m)'>"
    let file =
      "<?xml version='1.0'?><!-- > --><svg xmlns='http://www.w3.org/2000/svg' \(attributes)>\(mask)\(parts.joined())</g></svg>"
    for bytes in [Array(file.utf8), gzip(Array(file.utf8))] {
      for (made, side) in zip(try await pixels(bytes, .svg, [50, 100, 400]), [50, 100, 400]) {
        #expect(made.size == PixelSize(side, side / 2), "\(attributes)")
        for (colour, x, y) in [([255, 0, 0], 2, 2), ([0, 255, 0], side - 3, 2), ([0, 0, 255], 2, side / 2 - 3)] {
          #expect(made.isNear(colour.map { UInt8($0) }, x, y), "\(attributes) \(side): \(made[x, y])")
        }
      }
    }
  }

  @Test(arguments: 1...7, ["off", "on"])
  func ofAFewPixelsColoursAreNotSmeared(side: Int, subsampling: String) async throws {
    let colours: [[UInt8]] = [[255, 0, 0], [0, 0, 255]]
    let tiny = TestPicture(side, 8) { x, _ in colours[2 * x / side] }
    let variant = Variant(size: PixelSize(side, 8), fit: .contain, format: .jpeg)
    let written = try await TestRender.one(tiny.encoded(), variant)
    let places = [(colours[0], 0)] + (side > 1 ? [(colours[1], side - 1)] : [])
    for (colour, x) in places { #expect(try DecodedPixels(written.data).isNear(colour, x, 4), "\(side)") }
    // Up to four pixels have one or two samples of chroma, each of its pixels' own colour where they are even.
    guard [1, 2, 4].contains(side) else { return }
    let two = TestPicture(side, 8) { x, _ in colours[side < 4 ? 0 : x / 2] }
    let file = try two.encoded("jpegsave_buffer", "Q=95,subsample-mode=\(subsampling)")
    let read = try await TestRender.pixels(file, Variant(size: PixelSize(side, 8), fit: .contain, format: .png))
    for x in 0..<side { #expect(read.isNear(colours[side < 4 ? 0 : x / 2], x, 4), "\(side): \(read[x, 4])") }
  }

  @Test func theSamePageIsTakenAtEverySize() async throws {
    let colours = [TestPicture.red, TestPicture.blue, TestPicture.green]
    let frames = TestPicture(64, 192) { _, y in colours[y / 64] }
    func square(_ side: Int, _ colour: TestPicture.Pixel) throws -> [UInt8] {
      try TestPicture(side, side) { _, _ in colour }.encoded()
    }
    // An APNG whose still image is not one of its frames.
    let (still, frame) = (try square(64, TestPicture.red), try square(64, TestPicture.blue))
    let data = try #require((0..<frame.count).first { frame[$0...].starts(with: Array("IDAT".utf8)) })
    let length = frame[data - 4..<data].reduce(0) { $0 << 8 | Int($1) }
    let control: [UInt8] = [0, 64, 64, 0, 0].reduce(into: []) { $0 += TestPNG.long($1) } + [0, 1, 0, 10, 0, 0]
    var apng = Array(still[..<33]) + TestPNG.chunk("acTL", TestPNG.long(1) + TestPNG.long(0))
    apng += still[33..<still.count - 12]
    apng += TestPNG.chunk("fcTL", control)
    apng += TestPNG.chunk("fdAT", TestPNG.long(1) + frame[data + 4..<data + 4 + length]) + still.suffix(12)
    /// An icon of PNGs: their sides, colours and bits a pixel.
    func icon(_ kind: UInt8, _ images: [(side: Int, colour: TestPicture.Pixel, bits: UInt8)]) throws -> [UInt8] {
      let files = try images.map { try square($0.side, $0.colour) }
      var (entries, start): ([UInt8], Int) = ([], 6 + 16 * images.count)
      for (image, file) in zip(images, files) {
        entries += [UInt8(image.side), UInt8(image.side), 0, 0, 1, 0, image.bits, 0] + long(file.count) + long(start)
        start += file.count
      }
      return [0, 0, kind, 0, UInt8(images.count), 0] + entries + files.joined()
    }
    // Three frames of red, blue and green.
    let jxl = """
      /wpPBAFYUFwSCAigAgAAcABLGIsVANQfYzD2LyABACD1CwAgkT8AQT+6JsofCAigAgAATABLGIsVgF3+/wISAKDTDAAowvoDCAigQgAAaABLGIsV\
      ABw2xmDs7gUkAJAKI7oAACj/SzqxAQ==
      """
    for (name, format, file) in [
      ("GIF", ImageFormat.gif, try frames.encoded("gifsave_buffer", "page-height=64")),
      ("WebP", .webp, try frames.encoded("webpsave_buffer", "page-height=64,lossless=true")),
      ("TIFF", .tiff, try frames.encoded("tiffsave_buffer", "page-height=64")), ("APNG", .png, apng),
      ("JPEG XL", .jpegXL, Array(try #require(Data(base64Encoded: jxl)))),
      ("ICO", .ico, try icon(1, [(32, colours[1], 32), (64, colours[2], 8), (64, colours[0], 32)])),
      ("CUR", .ico, try icon(2, [(64, colours[0], 3), (32, colours[1], 32)])),
    ] {
      for made in try await pixels(file, format, [16, 30, 64]) {
        #expect(made.isNear(TestPicture.red, 5, 5, tolerance: 40), "\(name): \(made[5, 5])")
      }
    }
  }
}
