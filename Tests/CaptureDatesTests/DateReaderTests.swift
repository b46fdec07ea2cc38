import TestSupport

@testable import CaptureDates
@testable import ThumbnailCore

/// Dates in the bytes of images, and how much of a file is read for them.
@Suite(.timeLimit(.minutes(5))) struct DateReaderTests {
  private typealias Samples = DateSamples

  private static let day = "2026:11:20 08:05:09"
  private static let expected = "2026-11-20T08:05:09"
  private static let exif = DateSamples.tiff([DateSamples.original: day])
  private static let exifBigEndian = DateSamples.tiff([DateSamples.original: day], isBigEndian: true)
  private static let xmp = DateSamples.xmp("exif:DateTimeOriginal='2026-11-20T08:05:09'/>")
  private static let noise = [UInt8](repeating: 7, count: 70_001)

  private static var raf: [UInt8] {
    let head = Array("FUJIFILMCCD-RAW 0201".utf8) + [UInt8](repeating: 0, count: 64) + Samples.big(100_000, 4)
    return head + [UInt8](repeating: 0, count: 100_000 - head.count) + Samples.jpeg(exif: exif)
  }
  private static var mrw: [UInt8] {
    let blocks = Array("\0PRD".utf8) + Samples.big(2, 4) + [1, 2] + Array("\0TTW".utf8) + Samples.big(exif.count, 4)
    return Array("\0MRM".utf8) + Samples.big(blocks.count, 4) + blocks + exif
  }

  /// A TIFF whose maker and model lie further apart than two reads reach.
  private static var scattered: [UInt8] {
    var file = [UInt8](repeating: 0, count: 700_000)
    func put(_ bytes: [UInt8], at place: Int) { file.replaceSubrange(place..<place + bytes.count, with: bytes) }
    let fields = [
      (0x010F, 2, 10, 200_000), (0x0110, 2, 10, 350_000), (0x02BC, 1, xmp.utf8.count, 16),
    ]
    let entries = fields.flatMap { tag, kind, count, value in
      Samples.little(tag, 2) + Samples.little(kind, 2) + Samples.little(count, 4) + Samples.little(value, 4)
    }
    put(Array("II*\0".utf8) + Samples.little(500_000, 4), at: 0)
    put(Array(xmp.utf8), at: 16)
    put(Samples.little(fields.count, 2) + entries, at: 500_000)
    put(Array("SonyCorp\0".utf8), at: 200_000)
    put(Array("ILCE-7M3\0".utf8), at: 350_000)
    return file
  }

  /// A file of each container, and the date that it tells.
  static let files: [(name: String, bytes: [UInt8], date: String?)] = [
    ("JPEG", Samples.jpeg(exif: exif), expected),
    ("JPEG, big-endian", Samples.jpeg(exif: exifBigEndian), expected),
    ("JPEG with XMP alone", Samples.jpeg([Samples.xmpSegment(xmp)]), expected),
    (
      "JPEG, EXIF last",
      Samples.jpeg([
        (0xE0, [0, 0]), (0xE2, [UInt8](repeating: 1, count: 65_000)), (0xE1, Array("Exif\0\0".utf8) + exif),
      ]), expected
    ),
    ("PNG", Samples.png([("IHDR", [1]), ("eXIf", exif), ("IDAT", [2]), ("IEND", [])]), expected),
    (
      "PNG, eXIf last", Samples.png([("IHDR", [1]), ("IDAT", noise), ("IDAT", noise), ("eXIf", exif), ("IEND", [])]),
      expected
    ),
    (
      "PNG, XMP last",
      Samples.png([
        ("IHDR", [1]), ("IDAT", noise), ("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0\(xmp)".utf8)), ("tEXt", [1, 2, 3]),
        ("IEND", []),
      ]),
      expected
    ),
    ("WebP", Samples.webp([("VP8X", [8]), ("VP8 ", noise), ("EXIF", exif)]), expected),
    (
      "WebP with a JPEG's signature", Samples.webp([("VP8 ", noise + noise), ("EXIF", Array("Exif\0\0".utf8) + exif)]),
      expected
    ),
    ("WebP, XMP", Samples.webp([("VP8L", [1]), ("XMP ", Array(xmp.utf8))]), expected),
    (
      "WebP, animated", Samples.webp([("VP8X", [2])] + (0..<40).map { _ in ("ANMF", noise) } + [("EXIF", exif)]),
      expected
    ),
    ("TIFF", exif, expected),
    ("TIFF/EP", Samples.tiff([Samples.original: day], isBigEndian: true, inFirst: true), expected),
    ("TIFF, XMP", Samples.tiff([0x010F: "A camera of somebody"], inFirst: true, xmp: xmp), expected),
    ("TIFF, XMP, maker and model apart", scattered, expected),
    ("HEIC", Samples.heif(brand: "heic", exif: exif), expected),
    ("HEIC, EXIF last", Samples.heif(brand: "heic", exif: exif, filler: 300_000), expected),
    ("AVIF, XMP", Samples.heif(brand: "avif", xmp: xmp), expected),
    ("RAF", raf, expected), ("MRW", mrw, expected),
    ("CR3", Samples.cr3(exif: Samples.tiff([Samples.original: day], inFirst: true)), expected),
    ("nothing", [], nil), ("text", Array("2026:11:20 08:05:09".utf8), nil), ("JPEG without", Samples.jpeg([]), nil),
    ("PNG without", Samples.png([("IHDR", [1]), ("IDAT", noise), ("IEND", [])]), nil),
  ]

  /// The date that a file tells, and the ranges that were read for it.
  private func read(_ bytes: [UInt8]) -> (date: CaptureDate?, ranges: [Range<Int>]) {
    var ranges: [Range<Int>] = []
    let walk = DateReader.walk(length: bytes.count, wantsDetails: false) { range in
      ranges.append(range)
      return Array(bytes[range.clamped(to: 0..<bytes.count)])
    }
    return (walk?.best, ranges)
  }

  @Test func everyContainerTellsItsDateInThreeReadsAtMost() {
    for (name, bytes, expected) in Self.files {
      let (date, ranges) = read(bytes)
      #expect(date?.text == expected, "\(name)")
      #expect(ranges.count <= 3 && ranges.allSatisfy { $0.count <= 64 << 10 }, "\(name): \(ranges)")
    }
  }

  @Test func aPhotographWithItsDateInFrontCostsOneRead() {
    #expect(read(Samples.jpeg(exif: Self.exif) + Self.noise).ranges == [0..<16 << 10])
    #expect(read(Samples.heif(brand: "heic", exif: Self.exif) + Self.noise).ranges.count == 1)
  }

  @Test func theMomentOfTheShotCountsBeforeThatOfTheScanAndBothBeforeXMP() {
    let later = "2026:12:24 18:00:00"
    let both = Samples.tiff([
      Samples.created: later, Samples.original: Self.day, Samples.fraction: "250", Samples.zone: "+09:00",
    ])
    #expect(read(Samples.jpeg(exif: both)).date?.text == "2026-11-20T08:05:09.250+09:00")
    let scanned = Samples.tiff([Samples.created: later, Samples.original: "0000:00:00 00:00:00"])
    let all = Samples.jpeg([Samples.xmpSegment(Self.xmp), (0xE1, Array("Exif\0\0".utf8) + scanned)])
    #expect(read(all).date?.text == "2026-12-24T18:00:00")
    #expect(read(all).date?.source == .camera)
    #expect(read(Samples.jpeg([Samples.xmpSegment(Self.xmp)])).date?.source == .xmp)
  }

  @Test func propertiesOfXMPAreReadInEitherFormAndByRank() {
    let forms = [
      "xmp:CreateDate=\"2020-01-01T00:00:00\" photoshop:DateCreated=\"2026-11-20T08:05:09\"/>",
      "><xmp:CreateDate>2020-01-01</xmp:CreateDate>\n<exif:DateTimeOriginal>\n 2026-11-20T08:05:09 </exif:DateTimeOriginal>",
      "xmp:MetadataDate='2021-01-01' xmp:ModifyDate='2022-01-01' xmp:CreateDate = '2026-11-20T08:05:09'/>",
    ]
    for form in forms {
      #expect(read(Samples.jpeg([Samples.xmpSegment(Samples.xmp(form))])).date?.text == Self.expected, "\(form)")
    }
    #expect(read(Samples.jpeg([Samples.xmpSegment(Samples.xmp("xmp:ModifyDate='2022-01-01'/>"))])).date == nil)
  }

  @Test func aFileWithoutADateHasThatOfItsNameAndElseItsOwn() throws {
    let directory = try TemporaryDirectory()
    func date(_ name: String, _ bytes: [UInt8]) throws -> CaptureDate {
      let file = directory.url.appending(path: name)
      try Data(bytes).write(to: file)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: file.path)
      return try DateReader.date(of: RawPath(file.path)).date
    }
    #expect(try date("IMG_20200101_000000.jpg", Samples.jpeg(exif: Self.exif)).source == .camera)
    #expect(try date("IMG_20200101_000000.png", Samples.jpeg([])).text == "2020-01-01T00:00:00")
    #expect(try date("lake.jpg", []) == CaptureDate(fileTime: 1_000_000_000_000_000_000))
    #expect(throws: SystemFailure.self) { try DateReader.date(of: RawPath(directory.url.path)) }
    #expect(throws: SystemFailure(code: ENOENT)) { try DateReader.date(of: RawPath(directory.url.path + "/none")) }
  }

  @Test func brokenFilesAreReadNoFurtherAndStopNobody() {
    var random = SplitMix(state: 34)
    let files = Self.files.filter { !$0.bytes.isEmpty }
    for round in Thoroughness.rounds(8_000) {
      let (name, bytes, _) = files[round % files.count]
      var broken = bytes
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        // What is read of most of them is near their beginning or their end.
        let distance = Int.random(in: 0..<min(bytes.count, 700), using: &random)
        let place = Bool.random(using: &random) ? distance : bytes.count - 1 - distance
        broken[place] = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)][round % 6]
      }
      if round % 4 == 0 { broken.removeLast(Int.random(in: 0..<min(bytes.count, 700), using: &random)) }
      let ranges = read(broken).ranges
      #expect(ranges.count <= 3 && ranges.allSatisfy { $0.count <= 64 << 10 }, "\(name), round \(round): \(ranges)")
    }
  }
}
