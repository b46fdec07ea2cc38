@testable import RAWPreviews
import TestSupport

/// The embedded images of RAW files by each maker's layout.
@Suite struct RAWReaderTests {
  private static let formats: [String: RAWFormat] = [
    "CR2": .cr2, "CR3": .cr3, "NEF": .nef, "ARW": .arw, "DNG": .dng, "RAF": .raf, "ORF": .orf, "ORF-OLD": .orf,
    "RW2": .rw2, "PEF": .pef, "SRW": .srw, "MRW": .mrw, "3FR": .threeFR, "IIQ": .iiq, "ERF": .erf,
  ]

  @Test(arguments: RAWSample.kinds) func everyEmbeddedJPEGIsFoundWithItsSize(_ kind: String) throws {
    let sample = try RAWSamples.sample(kind)
    let file = try #require(RAWSamples.read(sample.bytes).file)
    #expect(file.format == Self.formats[kind])
    #expect(file.images.filter { $0.encoding == .jpeg }.map(\.range) == sample.images)
    let sizes = Set(file.previews.map { [$0.width, $0.height] })
    #expect(!sizes.isEmpty && sizes.isSubset(of: [[160, 120], [96, 144], [640, 480]]), "\(sizes)")
    #expect(file.previews.map(\.lacksFirstByte) == file.previews.map { _ in kind == "MRW" })
  }

  @Test(arguments: RAWSample.kinds, [1, 6, 8])
  func theOrientationIsTheOneOfTheFilesOwnDirectory(_ kind: String, _ orientation: Int) throws {
    let file = try #require(RAWSamples.read(RAWSamples.sample(kind, orientation: orientation).bytes).file)
    #expect(file.orientation == orientation)
  }

  @Test(arguments: RAWSample.kinds) func littleOfALargeFileIsRead(_ kind: String) throws {
    let sample = try RAWSamples.sample(kind, sensorLength: 1_000_000)
    let read = RAWSamples.read(sample.bytes)
    #expect(read.file?.previews.count == sample.images.count)
    #expect(read.byteCount < 100_000 && read.reads <= 6, "\(read.byteCount) bytes in \(read.reads) reads")
  }

  @Test(arguments: ["CR2", "CR3", "ARW", "DNG", "RAF", "RW2"])
  func theReadsGoForwardsForAStream(_ kind: String) throws {
    // A JPEG's header ends beyond what is read at once.
    var previews = try RAWSamples.previews()
    let comment: [UInt8] = [0xFF, 0xFE, 0x40, 0] + [UInt8](repeating: 32, count: 0x3FFE)
    for path in [\RAWSample.Previews.preview, \.full] { previews[keyPath: path].insert(contentsOf: comment, at: 2) }
    let bytes = RAWSample(kind, previews).bytes
    var reader = RAWReader()
    // What a parser of TIFF files has read.
    reader.add(Array(bytes[..<16]), of: 0..<16)
    var position = 0
    while case .read(let range) = reader.next() {
      #expect(range.lowerBound >= position, "\(range)")
      position = range.lowerBound
      reader.add(Array(bytes[range.clamped(to: 0..<bytes.count)]), of: range)
    }
    guard case .found(let file) = reader.next() else {
      Issue.record("\(reader.next())")
      return
    }
    #expect(file.previews.count >= 2)
  }

  @Test(arguments: ["CR2", "CR3"]) func theBordersOfACanonThumbnailAreLeftOut(_ kind: String) throws {
    let file = try #require(RAWSamples.read(RAWSamples.sample(kind).bytes).file)
    let rows = kind == "CR2" ? 7...112 : 6...113
    let thumbnail = try #require(file.images.first { $0.width == 160 })
    #expect(thumbnail.visible == VisiblePart(x: 0, y: rows.lowerBound, width: 160, height: rows.count))
    #expect(file.images.filter { $0.width != 160 }.allSatisfy { $0.visible == nil })
  }

  @Test func aPreviewInJPEGXLIsListedAndNotRead() throws {
    var tiff = TIFFWriter()
    tiff.write(chain: [
      [
        (0xC612, .bytes([1, 7, 0, 0])), (0x0103, .short([52546])), (0x0111, .start(of: "a")),
        (0x0117, .length(of: "a")),
      ]
    ])
    tiff.add(block: "a", [0xFF, 0x0A] + [UInt8](repeating: 7, count: 100))
    let file = try #require(RAWSamples.read(tiff.bytes).file)
    #expect(file.format == .dng && file.images.map(\.encoding) == [.jpegXL] && file.previews.isEmpty)
  }

  @Test func aLosslessJPEGOfTheSensorIsNoPreview() throws {
    var lossless = try RAWSamples.jpeg("jpeg-420")
    let frame = try #require(lossless.indices.first { lossless[$0] == 0xFF && lossless[$0 + 1] == 0xC0 })
    lossless[frame + 1] = 0xC3
    var tiff = TIFFWriter()
    tiff.write(chain: [
      [(0xC612, .bytes([1, 4, 0, 0])), (0x0103, .short([7])), (0x0111, .start(of: "a")), (0x0117, .length(of: "a"))]
    ])
    tiff.add(block: "a", lossless)
    let file = try #require(RAWSamples.read(tiff.bytes).file)
    #expect(file.images.map(\.encoding) == [.other] && file.previews.isEmpty)
  }

  @Test func fillBytesBeforeAMarkerAreSkipped() throws {
    var previews = try RAWSamples.previews()
    previews.full.insert(contentsOf: [0xFF, 0xFF], at: 2)
    let sizes = [RAWSample("DNG", previews), try RAWSamples.sample("DNG")].map { sample in
      RAWSamples.read(sample.bytes).file?.previews.map { [$0.width, $0.height] }
    }
    #expect(sizes[0]?.isEmpty == false && sizes[0] == sizes[1])
  }

  @Test func ordinaryTIFFsAreNotRAW() throws {
    let folder = TestImages.url("formats")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".tif") }
    #expect(names.count > 5)
    for name in names {
      let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
      #expect(RAWSamples.read(bytes).file == nil, "\(name)")
    }
    // A pyramid, whose reduced images are in directories of their own.
    var pyramid = TIFFWriter()
    pyramid.write(chain: [
      [
        (0x0100, .long([100])), (0x0106, .short([2])), (0x010F, .text("NIKON")),
        (0x014A, .directories([[(0x0100, .long([50])), (0x0106, .short([2]))]])),
      ]
    ])
    #expect(RAWSamples.read(pyramid.bytes).file == nil)
  }

  @Test func aVideoIsNotRAW() {
    #expect(RAWSamples.read([0, 0, 0, 20] + Array("ftypqt  \0\0\0\0qt  ".utf8)).file == nil)
  }
}
