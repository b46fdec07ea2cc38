import TestSupport
import ThumbnailCore

@testable import ThumbnailWorker

/// What lines ask for, and what is said of those that cannot be used.
@Suite struct LineParserTests {
  private func parse(_ text: String, shards: Bool = false, paths: Bool = true) -> ParsedLine {
    parse(Array(text.utf8), shards: shards, paths: paths)
  }

  private func parse(_ bytes: [UInt8], shards: Bool = false, paths: Bool = true) -> ParsedLine {
    let parser = LineParser(
      variants: [Variant(size: PixelSize(400, 400), fit: .contain)], gravity: .attention,
      allowsPaths: paths, writesShards: shards)
    return parser.parse(bytes, number: 3)
  }

  private func code(_ line: ParsedLine) -> String? {
    if case .failure(let failure) = line.content { failure.code } else { nil }
  }

  @Test func aURLIsALine() throws {
    let line = parse("  https://e.org/a b.jpg ")
    let item = try line.content.get()
    #expect(line.address == .url("https://e.org/a b.jpg") && line.id == nil && line.key == "000000002")
    #expect(item.variants.map(\.size) == [PixelSize(400, 400)])
  }

  @Test func anObjectMaySayEverythingOtherwise() throws {
    let line = parse(
      """
      {"id": {"a": 1.0}, "url": "https://e.org/a", "headers": {"B": "2", "A": "1"}, "sizes": [64, "100x50", "64x64"],
       "fit": "cover", "format": "jpg", "quality": 7, "key": "cats/12", "caption": "a cat", "json": {"x": [1], "y": 2},
       "more": [{}]}
      """.replacing("\n", with: ""))
    let item = try line.content.get()
    #expect(line.id == Array(#"{"a": 1.0}"#.utf8) && line.key == "cats/12")
    #expect(item.variants.map(\.size) == [PixelSize(64, 64), PixelSize(100, 50)])
    #expect(item.variants.allSatisfy { $0.fit == .cover && $0.gravity == .attention && $0.format == .jpeg })
    #expect(item.variants.allSatisfy { $0.quality == 7 } && item.caption == "a cat")
    #expect(item.members.map(\.name) == ["x", "y"] && item.members[0].value == Array("[1]".utf8))
    guard case .url(_, let headers) = item.origin else {
      Issue.record("no URL")
      return
    }
    #expect(headers.map(\.name) == ["A", "B"])
  }

  @Test func aSizeNeedsNoList() throws {
    let longest = PixelSize.longestThumbnailSide
    let sizes = [("64", PixelSize(64, 64)), ("\"64x\"", PixelSize(64, longest)), ("\"x64\"", PixelSize(longest, 64))]
    for (text, size) in sizes {
      #expect(try parse(#"{"path": "a", "sizes": \#(text)}"#).content.get().variants.map(\.size) == [size])
    }
  }

  @Test(arguments: ["12345678901234567890.10", "\"\\u0041\"", "null", "[1, 2]", "true", "1e999"])
  func anIdComesBackAsItWas(id: String) {
    #expect(parse(#"{"id":\#(id),"path":"a"}"#).id == Array(id.utf8))
    // Also of a line that cannot be used
    #expect(parse(#"{"url":5,"id":\#(id)}"#).id == Array(id.utf8))
  }

  @Test(arguments: [
    ("", "blank-line"), ("  ", "blank-line"), ("# https://e.org", "blank-line"), ("a.jpg", "invalid-line"),
    ("[1]", "invalid-line"), ("{\"id\": 7, \"url\": \"htt", "invalid-line"), ("{} {}", "invalid-line"),
    ("{\"url\": \"https://e.org/\u{0}\"}", "invalid-line"), ("https://e.org/\u{0}a", "invalid-line"),
    ("{}", "invalid-request"), (#"{"url": ""}"#, "invalid-request"), (#"{"url": "a\u0000b"}"#, "invalid-request"),
    (#"{"url": "https://e.org", "path": "a"}"#, "invalid-request"), (#"{"path": "a\u0000"}"#, "invalid-request"),
    (#"{"path": "a", "sizes": 0}"#, "invalid-request"), (#"{"path": "a", "sizes": []}"#, "invalid-request"),
    (#"{"path": "a", "sizes": [64, -1]}"#, "invalid-request"), (#"{"path": "a", "sizes": "0x64"}"#, "invalid-request"),
    (#"{"path": "a", "sizes": 1e2}"#, "invalid-request"), (#"{"path": "a", "sizes": 16384}"#, "invalid-request"),
    (#"{"path": "a", "sizes": {"w": 1}}"#, "invalid-request"), (#"{"path": "a", "fit": "crop"}"#, "invalid-request"),
    (#"{"path": "a", "fit": "cover", "sizes": "64x"}"#, "invalid-request"),
    (#"{"path": "a", "quality": 0}"#, "invalid-request"), (#"{"path": "a", "quality": "9"}"#, "invalid-request"),
    (#"{"path": "a", "headers": {"a": 1}}"#, "invalid-request"), (#"{"path": "a", "json": []}"#, "invalid-request"),
    (#"{"path": "a", "headers": {"a": "1\r\nb: 2"}}"#, "invalid-request"), (#"{"base64": 5}"#, "invalid-request"),
    (#"{"path": "a", "key": ""}"#, "invalid-key"), (#"{"path": "a", "key": "../a"}"#, "invalid-key"),
    (#"{"path": "a", "key": "/a"}"#, "invalid-key"), (#"{"path": "a", "key": "a/../../b"}"#, "invalid-key"),
    (#"{"path": "a", "key": "a//b"}"#, "invalid-key"), (#"{"path": "a", "key": "."}"#, "invalid-key"),
    (#"{"path": "a", "key": "a/"}"#, "invalid-key"), (#"{"path": "a", "key": "a\nb"}"#, "invalid-key"),
    (#"{"path": "a", "key": ".thumbs-1"}"#, "invalid-key"),
    // A slash and what follows it are one Character.
    (#"{"path": "a", "key": "../\u0301x"}"#, "invalid-key"), (#"{"path": "a", "key": "/\u200dx"}"#, "invalid-key"),
  ])
  func whatCannotBeUsedIsNamed(text: String, expected: String) { #expect(code(parse(text)) == expected) }

  @Test func aMemberThatIsNullCountsAsMissing() throws {
    let text = #"{"url": null, "path": "a", "sizes": null, "headers": null, "key": null, "json": null, "fit": null}"#
    #expect(try parse(text).content.get().key.text == "000000002")
  }

  @Test(arguments: [
    #""quality": 0, "quality": 80"#, #""sizes": [0], "sizes": [256]"#, #""fit": "x", "fit": "cover""#,
    #""headers": {"a": 1}, "headers": {"a": "b"}"#, #""json": 1, "json": {}"#, #""quality": 0, "quality": null"#,
  ])
  func aMemberThatComesTwiceCountsAsItCameLast(members: String) {
    #expect(code(parse(#"{"path": "a", \#(members)}"#)) == nil)
  }

  @Test func aMemberThatIsNullTheLastTimeIsMissing() throws {
    let text = #"{"path": "b", "key": "k", "sizes": [9], "url": "http://a", "key": null, "sizes": null, "path": null}"#
    let item = try parse(text).content.get()
    let sizes = try parse(#"{"path": "a"}"#).content.get().variants.map(\.size)
    #expect(item.key.text == "000000002" && item.variants.map(\.size) == sizes)
    guard case .url = item.origin else {
      Issue.record("\(item.origin)")
      return
    }
  }

  @Test func aMillionSizesAreRefusedWithoutBeingKept() {
    let wrong = Array(repeating: "0", count: 1_000_000).joined(separator: ",")
    #expect(code(parse(#"{"path": "a", "sizes": [\#(wrong)]}"#)) == "invalid-request")
    let many = (1...200_000).map { "\"\($0 % 1000 + 1)x\($0 / 1000 + 1)\"" }.joined(separator: ",")
    #expect(code(parse(#"{"path": "a", "sizes": [\#(many)]}"#)) == "invalid-request")
  }

  @Test(arguments: [
    [0xff, 0xfe, 0x68, 0x00], [0x68, 0xe9], Array("{\"id\":\"".utf8) + [0xc0, 0xaf] + Array("\"}".utf8),
  ])
  func otherEncodingsAreRefused(bytes: [UInt8]) { #expect(code(parse(bytes)) == "invalid-line") }

  @Test func pathsCanBeRefusedAndShardsKnowNoDots() {
    #expect(code(parse(#"{"path": "a"}"#, paths: false)) == "paths-refused")
    #expect(code(parse(#"{"path": "a", "key": "b.c/d"}"#, shards: true)) == nil)
    #expect(code(parse(#"{"path": "a", "key": "b/c.d"}"#, shards: true)) == "invalid-key")
    #expect(code(parse(#"{"path": "a", "key": "b/c.\u0301d"}"#, shards: true)) == "invalid-key")
    #expect(code(parse(#"{"path": "a", "key": "b/c.d"}"#)) == nil)
    #expect(code(parse("{\"path\": \"a\", \"key\": \"\(String(repeating: "k", count: 201))\"}")) == "invalid-key")
  }

  @Test func keysOfNumbersHaveNineDigits() {
    #expect(SampleKey(number: 12).text == "000000012")
    #expect(SampleKey(number: 1_234_567_890).text == "1234567890")
  }
}
