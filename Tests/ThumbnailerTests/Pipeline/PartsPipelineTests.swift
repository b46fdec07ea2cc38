@testable import CodecTestSupport
@testable import HTTPTransport
@testable import ImageCodec
@testable import PipelineTestSupport
@testable import Thumbnailer

/// Images of which only the parts are downloaded that their thumbnails need.
///
/// The HEIC has its table of contents at its beginning and all items far behind; then more follows.
@Suite(.timeLimit(.minutes(5))) struct PartsPipelineTests {
  private static let gap = 1_500_000
  private let heic: [UInt8]
  private let small = PixelSize(48, 48)

  /// A RAW file whose preview is longer than its first part.
  private static let raw = Result {
    let noise = try TestPicture(600, 400) { x, y in
      let value = UInt8(truncatingIfNeeded: (x &* 7919 ^ y &* 104_729) &* 2_654_435_761 >> 16)
      return [value, value, value, 255]
    }.encoded("jpegsave_buffer", "Q=95,strip=true")
    let thumbnail = try TestPicture.quarters(150, 100).encoded("jpegsave_buffer", "strip=true")
    let previews = RAWSample.Previews(thumbnail: thumbnail, preview: noise, full: noise)
    return RAWSample("ARW", previews, sensorLength: 1_000_000).bytes
  }

  /// Made once: its tiles are coded one by one.
  private static let phone = Result { try PhonePicture.bytes() }

  init() throws {
    heic = try HEICParts.spread(Self.phone.get(), by: Self.gap)
  }

  /// A server that sends ranges of a body.
  private struct Server: Sendable {
    var bytes: [UInt8]
    var etag: String? = "\"one\""

    func response(to request: OriginRequest) -> OriginResponse {
      var response = OriginResponse.ok(bytes)
      if let range = request.range?.clamped(to: 0..<bytes.count) {
        response = OriginResponse(
          status: 206,
          headers: [("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)")],
          body: Array(bytes[range]))
      }
      if let etag { response = response.header("ETag", etag) }
      return response.header("Accept-Ranges", "bytes")
    }
  }

  /// The response to a request of the file from a server without ranges.
  private func whole(
    _ bytes: [UInt8], _ size: PixelSize? = nil, previews: PreviewUse = .auto
  ) async throws -> ThumbnailResponse {
    let fixture = try PipelineFixture(configuring: { $0.previews = previews }) { _ in .ok(bytes) }
    return try await fixture.pipeline.response(for: fixture.request("/a", size ?? small))
  }

  // MARK: What is requested

  @Test(arguments: [false, true])
  func ofAHEICOnlyTheThumbnailAndEightTilesAreRequested(_ endsWithTable: Bool) async throws {
    let distance = 60_000
    var file = try HEICParts.scattered(Self.phone.get(), by: distance)
    if endsWithTable { file = try HEICParts.withTableAtEnd(file) }
    let server = Server(bytes: file)
    let fixture = try PipelineFixture { server.response(to: $0) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a.heic", small))
    #expect(response.bytesLeft == file.count - response.downloadedBytes && response.downloadedBytes < file.count / 4)
    #expect(response.thumbnail.source.byteCount == file.count)
    let requests = fixture.origin.requests.map(\.request)
    #expect(requests[0].range == nil && requests.count <= (endsWithTable ? 2 : 1) + RangePlan.mostOfTiles)
    #expect(requests.dropFirst().allSatisfy { $0.value(of: "If-Range") == "\"one\"" })
    #expect(requests.dropFirst(endsWithTable ? 2 : 1).allSatisfy { ($0.range?.count ?? .max) < distance })
    let same = try await whole(file)
    #expect(response.thumbnail.data == same.thumbnail.data && response.plan == same.plan)
    #expect(response.plan?.contains("embedded preview") == true && response.preview == .checked)
    #expect(fixture.pipeline.statistics.downloadedBytes == response.downloadedBytes)
  }

  /// A JPEG with some segments of 65,000 bytes, XMP data unless said otherwise, before all others.
  private func withSegments(
    _ count: Int, of marker: UInt8 = 0xE1, _ name: String = "http://ns.adobe.com/xap/1.0/\0", before picture: String
  ) throws -> [UInt8] {
    let head = [0xFF, marker, UInt8(64_998 >> 8), UInt8(64_998 & 255)] + Array(name.utf8)
    let segment = head + [UInt8](repeating: 7, count: 65_000 - head.count)
    let bytes = [UInt8](try TestImages.bytes(picture))
    return Array(bytes.prefix(2)) + Array(repeating: segment, count: count).joined() + Array(bytes.dropFirst(2))
  }

  @Test(arguments: [
    "formats/orientation-6-progressive.jpg", "formats/jpeg-exif-thumbnail.jpg", "formats/icc-adobe-rgb-progressive.jpg",
  ])
  func megabytesOfXMPDataAreJumpedOver(picture: String) async throws {
    let bytes = try withSegments(110, before: picture)
    let server = Server(bytes: bytes)
    let fixture = try PipelineFixture { server.response(to: $0) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a.jpg", small))
    let requests = fixture.origin.requests.map(\.request)
    #expect(requests.count <= 9 && requests.dropFirst().allSatisfy { $0.value(of: "If-Range") == "\"one\"" })
    #expect(response.downloadedBytes < 600_000 && response.bytesLeft > 6_000_000)
    #expect(response.thumbnail.source.byteCount == bytes.count)
    #expect(fixture.pipeline.statistics.downloadedBytes == response.downloadedBytes)
    #expect(try await whole(bytes).thumbnail.data == response.thumbnail.data)
  }

  @Test func whereAJumpFailsTheWholeIsFetched() async throws {
    let bytes = try withSegments(110, before: "formats/jpeg-progressive-444.jpg")
    let server = Server(bytes: bytes)
    let same = try await whole(bytes)
    // Refused at once, refused later, and sent with segments that are none.
    for kind in 0..<3 {
      let fixture = try PipelineFixture { request in
        guard let range = request.range, kind == 0 || range.count > 16 else { return server.response(to: request) }
        if kind < 2 { return .status(403) }
        return Server(bytes: bytes.map { $0 == 0xFF ? 0 : $0 }).response(to: request)
      }
      let response = try await fixture.pipeline.response(for: fixture.request("/a.jpg", small))
      #expect(response.thumbnail.data == same.thumbnail.data, "\(kind)")
      #expect(fixture.origin.requests.last?.request.range == nil, "\(kind)")
    }
  }

  @Test(arguments: [(0xE2, "ICC_PROFILE\0"), (0xE1, "Exif\0\0"), (0xEE, "Adobe")] as [(UInt8, String)])
  func whatAThumbnailMayNeedIsRead(marker: UInt8, name: String) async throws {
    let bytes = try withSegments(20, of: marker, name, before: "formats/jpeg-444.jpg")
    let server = Server(bytes: bytes)
    let fixture = try PipelineFixture { server.response(to: $0) }
    _ = try await fixture.pipeline.response(for: fixture.request("/a.jpg", small))
    #expect(fixture.origin.requests.allSatisfy { $0.request.range == nil })
  }

  @Test func aHEICWithoutAThumbnailIsOneRequest() async throws {
    let file = try TileFile(side: 64).bytes(.texture(384, 256)) + [UInt8](repeating: 0, count: 800_000)
    let server = Server(bytes: file)
    let fixture = try PipelineFixture { server.response(to: $0) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a.heic", small))
    #expect(fixture.origin.requests.map(\.request.range) == [nil] && response.preview == nil)
  }

  /// A tile that was not requested has other bytes than the thumbnail leads to expect.
  @Test func aThumbnailThatMayNotMatchGivesWayToTheImage() async throws {
    let file = try HEICParts.scattered(PhonePicture.bytes(.innerTilePaintedOver), by: 60_000)
    let server = Server(bytes: file)
    let fixture = try PipelineFixture { server.response(to: $0) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a.heic", small))
    #expect(response.preview == nil)
    #expect(try await whole(file, previews: .off).thumbnail.data == response.thumbnail.data)
  }

  @Test func aStreamIsLeftWhereTheRestIsFar() async throws {
    let server = Server(bytes: heic)
    let fixture = try PipelineFixture { request in
      let response = server.response(to: request)
      // More of the stream never comes.
      return request.range == nil ? response.stalling(after: 100_000) : response
    }
    let response = try await fixture.pipeline.response(for: fixture.request("/a", small))
    let requests = fixture.origin.requests.map(\.request)
    #expect(requests[0].range == nil && requests.dropFirst().allSatisfy { $0.range != nil })
    #expect((2...4).contains(requests.count) && response.downloadedBytes < 150_000)
    #expect(try await whole(heic).thumbnail.data == response.thumbnail.data)
  }

  @Test func ofAnImageWithoutAUsablePreviewItsTilesAreRequested() async throws {
    let server = Server(bytes: heic)
    let fixture = try PipelineFixture(configuring: { $0.previews = .off }) { server.response(to: $0) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a.heic", small))
    #expect(response.downloadedBytes < 100_000 && fixture.origin.requests.count == 2)
    #expect(try await whole(heic, previews: .off).thumbnail.data == response.thumbnail.data)
  }

  @Test(arguments: ["ARW", "NEF", "CR2", "RAF", "CR3", "ORF", "RW2", "PEF", "DNG"])
  func ofARAWFileOnlyThePreviewIsRequested(_ kind: String) async throws {
    let bytes = try RAWPictures.file(kind, orientation: 6, sensorLength: 1_000_000)
    let server = Server(bytes: bytes)
    let fixture = try PipelineFixture { server.response(to: $0) }
    let response = try await fixture.pipeline.response(
      for: fixture.request("/a.\(kind.lowercased())", PixelSize(200, 200)))
    #expect(fixture.origin.requests.count <= 4)
    #expect(response.downloadedBytes < 500_000 && response.thumbnail.source.byteCount == bytes.count)
    let same = try await whole(bytes, PixelSize(200, 200))
    #expect(same.thumbnail.data == response.thumbnail.data)
  }

  @Test func ofATIFFInOnePieceAllIsRequested() async throws {
    let bytes = try TestPicture.quarters(512, 384).encoded("tiffsave_buffer")
    let server = Server(bytes: bytes)
    let fixture = try PipelineFixture { server.response(to: $0) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a.tif", small))
    #expect(fixture.origin.requests.count <= 3 && response.downloadedBytes >= bytes.count && response.bytesLeft == 0)
    #expect(fixture.origin.requests.last?.request.range == nil)
    #expect(try await whole(bytes).thumbnail.data == response.thumbnail.data)
  }

  @Test func aFileShorterThanTheFirstPartIsOneRequest() async throws {
    let bytes = [UInt8](try TestImages.bytes("formats/heic-grid.heic"))
    let server = Server(bytes: bytes)
    let fixture = try PipelineFixture { server.response(to: $0) }
    let response = try await fixture.pipeline.response(for: fixture.request("/a.HEIC", small))
    #expect(fixture.origin.requests.count == 1 && response.downloadedBytes == bytes.count && response.bytesLeft == 0)
  }

  @Test func aLargerSizeThatComesLaterFetchesTheRest() async throws {
    let server = Server(bytes: heic)
    let fixture = try PipelineFixture { server.response(to: $0) }
    _ = try await fixture.pipeline.response(for: fixture.request("/a.heic", small))
    let large = try await fixture.pipeline.response(for: fixture.request("/a.heic", PhonePicture.size))
    #expect(try await whole(heic, PhonePicture.size).thumbnail.data == large.thumbnail.data)
  }

  // MARK: Servers

  /// What a server does other than it should.
  enum Fault: String, CaseIterable {
    case ignoresRanges, sendsAllLater, wrongRange, otherTag, noTagLater, noTag, weakTag, notSatisfiable, otherLength,
      tooShort, tooLong, otherBytes, otherMiddle, zeros, forbidden, failing, forbiddenLater
  }

  private static func faulty(_ fault: Fault, _ server: Server, _ request: OriginRequest) -> OriginResponse {
    var server = server
    guard let range = request.range else { return server.response(to: request) }
    let isFirst = range.lowerBound == 0
    let right = server.response(to: request)
    let content = "bytes \(range.lowerBound)-\(range.upperBound - 1)/"
    func part(_ header: String, _ bytes: [UInt8]) -> OriginResponse {
      OriginResponse(status: 206, headers: [("Content-Range", header), ("ETag", "\"one\"")], body: bytes)
    }
    let clamped = range.clamped(to: 0..<server.bytes.count)
    switch fault {
    case .ignoresRanges: return OriginResponse.ok(server.bytes).header("ETag", "\"one\"")
    case .noTag, .weakTag:
      server.etag = fault == .noTag ? nil : "W/\"one\""
      return server.response(to: request)
    case .forbidden: return .status(403)
    case .failing: return .status(500)
    case _ where isFirst: return right
    case .forbiddenLater: return .status(403)
    case .sendsAllLater: return .ok(server.bytes)
    case .wrongRange: return part("bytes 0-\(clamped.count - 1)/\(server.bytes.count)", Array(server.bytes[clamped]))
    case .otherTag:
      server.etag = "\"two\""
      return server.response(to: request)
    case .noTagLater:
      server.etag = nil
      return server.response(to: request)
    case .notSatisfiable: return .status(416)
    case .otherLength: return part(content + "\(server.bytes.count + 1)", Array(server.bytes[clamped]))
    case .tooShort: return right.announcing(clamped.count).truncated(after: clamped.count / 2)
    case .tooLong:
      return OriginResponse(
        status: 206, headers: [("Content-Range", content + "\(server.bytes.count)"), ("ETag", "\"one\"")],
        body: Array(server.bytes[clamped]) + [1, 2, 3]
      ).chunked()
    case .otherBytes: return part(content + "\(server.bytes.count)", server.bytes[clamped].map { $0 ^ 0x55 })
    case .otherMiddle:
      // The end of a JPEG stays.
      var bytes = Array(server.bytes[clamped])
      for place in bytes.count / 3..<bytes.count * 2 / 3 { bytes[place] = place % 2 == 0 ? 0xFF : 0xC4 }
      return part(content + "\(server.bytes.count)", bytes)
    case .zeros: return part(content + "\(server.bytes.count)", Array(repeating: 0, count: clamped.count))
    }
  }

  @Test(arguments: Fault.allCases, [true, false])
  func serversWithoutUsableRangesAreAskedForAll(_ fault: Fault, isRAW: Bool) async throws {
    let bytes = isRAW ? try Self.raw.get() : heic
    let size = isRAW ? PixelSize(200, 200) : small
    let server = Server(bytes: bytes)
    let fixture = try PipelineFixture { Self.faulty(fault, server, $0) }
    let name = isRAW ? "arw" : "heic"
    let request = fixture.request("/a.\(name)", size)
    if fault == .tooShort {
      // It fails as a body does that breaks off.
      #expect(await fixture.pipeline.failure(request)?.code == "unreachable")
      return
    }
    let response = try await fixture.pipeline.response(for: request)
    let expected = try await whole(bytes, size)
    let thumbnail = try DecodedPixels(response.thumbnail.data)
    #expect(try thumbnail.meanDifference(from: DecodedPixels(expected.thumbnail.data)) < 6)
  }

  @Test func aHostThatSendsWrongPartsIsSoonNotAskedForThem() async throws {
    let server = Server(bytes: heic)
    let fixture = try PipelineFixture { Self.faulty(.wrongRange, server, $0) }
    for number in 1...4 {
      _ = try await fixture.pipeline.response(for: fixture.request("/\(number).heic", small))
    }
    let ranges = fixture.origin.requests.map { $0.request.range != nil }
    #expect(ranges == [false, true, false, false, true, false, false, true, false, false])
  }

  @Test(arguments: [60_000, 0]) func anImageOfAnImpossibleSizeIsRefused(_ side: Int) async throws {
    var tiff = TIFFWriter(signature: [UInt8](repeating: 0, count: 200_000))
    tiff.write(chain: [
      [(0x0100, .long([side])), (0x0101, .long([side])), (0x0102, .short([8])), (0x0115, .short([1]))]
    ])
    let server = Server(bytes: tiff.bytes + [UInt8](repeating: 0, count: 300_000))
    let fixture = try PipelineFixture { server.response(to: $0) }
    let request = ThumbnailRequest(
      ImageSource(fixture.origin.url("/a.tif")), variant: Variant(size: small, fit: .contain))
    let task = Task { try await fixture.pipeline.thumbnail(for: request) as Thumbnail }
    let error = await failure(of: task)
    #expect(error != nil && error?.httpStatus ?? 0 >= 400)
    if side > 0 { #expect(error?.code == "too-large" && fixture.pipeline.statistics.downloadedBytes < 200_000) }
  }

  @Test func aPartThatBreaksOffIsRequestedAgain() async throws {
    let server = Server(bytes: heic)
    let fixture = try PipelineFixture(configuring: { $0.attempts = 3 }) { request in
      let response = server.response(to: request)
      return request.number == 2 ? response.truncated(after: 10) : response
    }
    let response = try await fixture.pipeline.response(for: fixture.request("/a.heic", small))
    #expect(try await whole(heic).thumbnail.data == response.thumbnail.data)
    let ranges = fixture.origin.requests.map(\.request.range)
    #expect(ranges[1] == ranges[2])
  }

  @Test func aStatusIsAnErrorAsOfTheWhole() async throws {
    let fixture = try PipelineFixture { _ in .status(404) }
    #expect(await fixture.pipeline.failure(fixture.request("/a.heic", small))?.code == "not-found")
  }

  @Test func aThumbnailFromPartsIsConfirmedByTheTag() async throws {
    let server = Server(bytes: heic)
    let fixture = try PipelineFixture { request in
      request.value(of: "If-None-Match") == "\"one\""
        ? OriginResponse(status: 304, headers: [("ETag", "\"one\"")]) : server.response(to: request)
    }
    let first = try await fixture.pipeline.response(for: fixture.request("/a.heic", small))
    let again = try await fixture.restarted { $0.cacheMode = .refresh }
    let second = try await again.response(for: fixture.request("/a.heic", small))
    #expect(second.origin == .revalidated && second.thumbnail.data == first.thumbnail.data)
  }

  @Test func manyAtOnceHoldNoMemoryWhileTheyWait() async throws {
    let server = Server(bytes: heic)
    let fixture = try PipelineFixture(configuring: {
      $0.downloads = 1
      $0.downloadsPerHost = 1
    }) { server.response(to: $0) }
    try await withThrowingTaskGroup { group in
      for index in 0..<20 {
        group.addTask { _ = try await fixture.pipeline.response(for: fixture.request("/\(index).heic", small)) }
      }
      try await group.waitForAll()
    }
    #expect(fixture.pipeline.statistics.rendered == 20)
  }
}

extension OriginRequest {
  /// The range that is requested, if one is.
  fileprivate var range: Range<Int>? {
    guard let text = value(of: "Range"), text.hasPrefix("bytes=") else { return nil }
    let ends = text.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
    return ends.count == 2 ? ends[0]..<ends[1] + 1 : nil
  }
}

/// A HEIC of `TileFile` whose items are moved back.
private enum HEICParts {
  /// Puts free space behind the table of contents, and behind all.
  static func spread(_ file: [UInt8], by gap: Int) throws -> [UInt8] {
    let space = free(gap)
    return try moved(file) {
      $0 + gap
    } data: {
      space + $0 + space
    }
  }

  /// Puts free space before each item.
  static func scattered(_ file: [UInt8], by distance: Int) throws -> [UInt8] {
    var starts: [Int] = []
    _ = try moved(file) { place in
      starts.append(place)
      return place
    } data: {
      Array($0)
    }
    let first = try #require(starts.first)
    return try moved(file) { place in
      place + distance * (1 + (starts.firstIndex(of: place) ?? 0))
    } data: { data in
      // The items follow the header of their box.
      let header = 8
      var scattered = Array(data[data.startIndex..<data.startIndex + header])
      for (index, start) in starts.enumerated() {
        let end = index + 1 < starts.count ? starts[index + 1] - first : data.count - header
        scattered += [UInt8](repeating: 0, count: distance)
        scattered += data[(data.startIndex + header + start - first)..<(data.startIndex + header + end)]
      }
      let length = scattered.count
      for place in 0..<4 { scattered[place] = UInt8(truncatingIfNeeded: length >> (24 - 8 * place)) }
      return scattered
    }
  }

  /// Puts the table of contents behind the items.
  static func withTableAtEnd(_ file: [UInt8]) throws -> [UInt8] {
    let start = try #require(position(of: "meta", in: file)) - 4
    let end = start + number(file, at: start, 4)
    let earlier = try moved(file) {
      $0 - (end - start)
    } data: {
      Array($0)
    }
    return Array(earlier[..<start] + earlier[end...] + earlier[start..<end])
  }

  private static func free(_ count: Int) -> [UInt8] {
    let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
    return length + Array("free".utf8) + [UInt8](repeating: 0, count: count - 8)
  }

  /// The file with other places of its items, and other content from the box of their data on.
  private static func moved(
    _ file: [UInt8], _ place: (Int) -> Int, data: (ArraySlice<UInt8>) -> [UInt8]
  ) throws -> [UInt8] {
    var bytes = file
    let start = try #require(position(of: "mdat", in: bytes)) - 4
    let locations = try #require(position(of: "iloc", in: bytes)) + 4
    // The version, the sizes of the fields, and the number of items precede them.
    for item in 0..<number(bytes, at: locations + 6, 2) {
      // The item's number, its method, a reference, the number of its places; then the place.
      let entry = locations + 8 + 16 * item
      guard number(bytes, at: entry + 2, 2) == 0 else { continue }
      let moved = place(number(bytes, at: entry + 8, 4))
      for place in 0..<4 { bytes[entry + 8 + place] = UInt8(truncatingIfNeeded: moved >> (24 - 8 * place)) }
    }
    return Array(bytes[..<start]) + data(bytes[start...])
  }

  private static func position(of text: String, in bytes: [UInt8]) -> Int? {
    bytes.firstRange(of: Array(text.utf8))?.lowerBound
  }

  private static func number(_ bytes: [UInt8], at start: Int, _ count: Int) -> Int {
    bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
  }
}
