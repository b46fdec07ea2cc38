import Testing

@testable import ImageCodec
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct SnifferTests {
  private func sniff(_ text: String) -> Sniffer.Verdict { Sniffer.sniff(HeaderBytes(Array(text.utf8)), isAll: true) }

  @Test(
    arguments: [
      ([0xFF, 0xD8, 0xFF, 0xE0], ImageFormat.jpeg), ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
      (Array("RIFF....WEBPVP8 ".utf8), .webp), (Array("GIF89a".utf8), .gif), (Array("II*\0".utf8), .tiff),
      (Array("MM\0+".utf8), .tiff), (Array("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic".utf8), .heif),
      (Array("\0\0\0\u{18}ftypmif1\0\0\0\0miafavif".utf8), .avif), ([0xFF, 0x0A, 0, 0], .jpegXL),
      ([0xFF, 0x4F, 0xFF, 0x51], .jpeg2000), ([0x76, 0x2F, 0x31, 0x01], .openEXR), (Array("%PDF-1.7".utf8), .pdf),
      (Array("P6 3 3 255\n".utf8), .pnm), (Array("BM1234\0\0\0\0".utf8), .bmp), ([0, 0, 1, 0, 1, 0], .ico),
      (Array("<?xml version='1.0'?><!-- a --><svg xmlns=''>".utf8), .svg), (Array("\n <svg>".utf8), .svg),
      (Array("\0\0\0\u{18}ftypcrx \0\0\0\u{1}crx isom".utf8), .raw), (Array("FUJIFILMCCD-RAW 0201".utf8), .raw),
      (Array("IIRO\u{8}\0\0\0".utf8), .raw), (Array("IIU\0\u{18}\0\0\0".utf8), .raw),
      (Array("\0MRM\0\0\u{8}\0".utf8), .raw),
    ] as [([UInt8], ImageFormat)])
  func aFormatIsToldFromItsBytes(_ bytes: [UInt8], _ format: ImageFormat) {
    #expect(Sniffer.sniff(HeaderBytes(bytes), isAll: true) == .format(format))
  }

  @Test func whatIsNoPictureIsNamed() {
    #expect(sniff("<!DOCTYPE html><html><body><svg></svg>") == .other(looksLike: "an HTML page"))
    #expect(sniff("\n<html>") == .other(looksLike: "an HTML page"))
    #expect(sniff("{\"error\": 1}") == .other(looksLike: "JSON"))
    #expect(sniff("<?xml version='1.0'?><Error/>") == .other(looksLike: "XML"))
    #expect(sniff("Not found") == .other(looksLike: "plain text"))
    #expect(sniff("PK\u{3}\u{4}") == .other(looksLike: "a ZIP archive"))
    #expect(sniff("\0\0\0\u{18}ftypisom") == .other(looksLike: "a video"))
    #expect(sniff("\0\0\0\u{8}wide\0\0\0\u{8}mdat") == .other(looksLike: "a video"))
    #expect(sniff("\u{1}\u{2}\u{3}\u{4}") == .other(looksLike: "unknown data that begins with 01 02 03 04"))
  }

  @Test func anSVGMayBeginWithCommentsAndADoctype() throws {
    let drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"30\"/>"
    let entities = (0..<60).map { "<!ENTITY ns_\($0) \"http://ns.adobe.com/\($0)/[>\">\n" }.joined()
    for prolog in [
      "<!-- \(String(repeating: "x", count: 3000)) -->\n", "<!-- made of <html> pages -->\n",
      "<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"a.dtd\" [\n<!-- ] -->\(entities)]>\n",
      "\u{FEFF}\n <!-- a -->", String(repeating: "\n", count: 1500), "<!DOCTYPE svg>",
    ] {
      let bytes = Array((prolog + drawing).utf8)
      #expect(throws: CodecError.unsupportedFormat(.svg)) { try probe(.memory(bytes)) }
      // As it arrives, byte by byte.
      var prober = HeaderProber(limits: DecodeLimits())
      for byte in bytes { withUnsafeBytes(of: byte) { _ = prober.feed($0) } }
      _ = Array(repeating: UInt8(ascii: " "), count: Sniffer.longestProlog).withUnsafeBytes { prober.feed($0) }
      #expect(prober.status == .failed(.unsupportedFormat(.svg)))
    }
  }

  @Test func aPrologIsSearchedOnlySoFar() {
    let comment = "<!-- \(String(repeating: "x", count: Sniffer.longestProlog)) --><svg/>"
    #expect(throws: CodecError.notAPicture(looksLike: "XML")) { try probe(.memory(Array(comment.utf8))) }
    #expect(sniff("<!-- <svg> --><html>") == .other(looksLike: "an HTML page"))
    #expect(sniff("<!-- never closed <html>") == .other(looksLike: "an HTML page"))
  }

  @Test func textWaitsForMoreBytes() {
    #expect(Sniffer.sniff(HeaderBytes(Array("<?xml version='1.0'?>".utf8)), isAll: false) == .needsMore)
  }
}
