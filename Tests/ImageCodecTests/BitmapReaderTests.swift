@testable import CodecTestSupport
@testable import ImageCodec

/// Uncompressed BMPs of every header that Windows and OS/2 write, made here byte by byte.
@Suite(.timeLimit(.minutes(5))) struct BitmapReaderTests {
  /// Three pixels of red, green and blue over three of white, grey and black.
  private static let colours: [[[UInt8]]] = [
    [[255, 0, 0], [0, 255, 0], [0, 0, 255]], [[255, 255, 255], [128, 128, 128], [0, 0, 0]],
  ]

  private static func word(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8 & 255)] }
  private static func long(_ number: Int) -> [UInt8] { word(number) + word(number >> 16) }

  /// An info header of a length, for pixels of a depth.
  private static func info(_ length: Int, depth: Int, height: Int = 2, compression: Int = 0) -> [UInt8] {
    if length == 12 { return long(12) + word(3) + word(height) + word(1) + word(depth) }
    var bytes = long(length) + long(3) + long(height) + word(1) + word(depth)
    if length >= 40 { bytes += long(compression) + long(0) + long(0) + long(0) + long(0) + long(0) }
    if length >= 56 { bytes += long(0xFF0000) + long(0xFF00) + long(0xFF) + long(compression == 3 ? 0xFF00_0000 : 0) }
    return Array((bytes + [UInt8](repeating: 0, count: 128)).prefix(length))
  }

  /// The rows of the picture, the lower one first unless it is `topDown`, each padded to whole words.
  private static func rows(depth: Int, topDown: Bool = false, bytesOf: ([[UInt8]]) -> [UInt8]) -> [UInt8] {
    (topDown ? colours : colours.reversed()).flatMap { row in
      let bytes = bytesOf(row)
      return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
  }

  private static let rows24 = rows(depth: 24) { $0.flatMap { $0.reversed() } }

  private static func file(_ info: [UInt8], _ pixels: [UInt8], palette: [UInt8] = [], hotSpot: Int = 0) -> [UInt8] {
    let start = 14 + info.count + palette.count
    return Array("BM".utf8) + long(start + pixels.count) + word(hotSpot) + word(hotSpot) + long(start) + info + palette
      + pixels
  }

  private func pixels(_ bytes: [UInt8], ofIcon isIcon: Bool = false) throws -> [[UInt8]] {
    try Codec.start()
    return try bytes.withUnsafeBytes { raw in
      let picture = try #require(try BitmapReader(raw, isIcon: isIcon)).image(isTolerant: false)
      #expect(picture.size == PixelSize(3, 2))
      let all = try DecodedPixels(picture)
      return (0..<6).map { Array(all[$0 % 3, $0 / 3].prefix(isIcon ? 4 : 3)) }
    }
  }

  private static let variants: [(String, [UInt8])] = [
    ("OS/2 1", file(info(12, depth: 24), rows24)), ("OS/2 2, short", file(info(16, depth: 24), rows24)),
    ("OS/2 2", file(info(64, depth: 24), rows24)), ("Windows 3", file(info(40, depth: 24), rows24)),
    ("Windows 4", file(info(108, depth: 24), rows24)), ("Windows 5", file(info(124, depth: 24), rows24)),
    ("a hot spot", file(info(40, depth: 24), rows24, hotSpot: 7)),
    ("without a file header", info(40, depth: 24) + rows24), ("OS/2 1 without one", info(12, depth: 24) + rows24),
    (
      "top down",
      file(info(40, depth: 24, height: -2), rows(depth: 24, topDown: true) { $0.flatMap { $0.reversed() } })
    ),
    ("32 bits", file(info(40, depth: 32), rows(depth: 32) { $0.flatMap { $0.reversed() + [0] } })),
    (
      "32 bits with alpha",
      file(info(124, depth: 32, compression: 3), rows(depth: 32) { $0.flatMap { $0.reversed() + [200] } })
    ),
    ("a palette of 8 bits", indexed(8, 40)), ("a palette of 4 bits", indexed(4, 40)),
    ("a palette of OS/2", indexed(8, 12)), ("a palette without a file header", Array(indexed(8, 40).dropFirst(14))),
  ]

  /// The picture by a palette of its six colours.
  private static func indexed(_ depth: Int, _ length: Int) -> [UInt8] {
    let all = colours.flatMap(\.self)
    let isCore = length == 12
    let count = 1 << depth
    let padded: [[UInt8]] = all + Array(repeating: [0, 0, 0], count: count - all.count)
    let entries: [UInt8] = padded.flatMap { colour -> [UInt8] in colour.reversed() + (isCore ? [] : [0]) }
    let pixels = rows(depth: depth) { row in
      let indices = row.map { colour in UInt8(all.firstIndex(of: colour) ?? 0) }
      return depth == 8 ? indices : [(indices[0] << 4) | indices[1], indices[2] << 4]
    }
    return file(info(length, depth: depth), pixels, palette: entries)
  }

  @Test func everyHeaderGivesTheSamePicture() throws {
    for (name, bytes) in Self.variants {
      #expect(Sniffer.sniff(HeaderBytes(Array(bytes.prefix(64))), isAll: true) == .format(.bmp), "\(name)")
      #expect(try pixels(bytes) == Self.colours.flatMap(\.self), "\(name)")
    }
  }

  @Test(arguments: [0, 54]) func anOffsetThatLeavesOutThePaletteIsTheWritersMistake(offset: Int) throws {
    for depth in [4, 8] {
      var bytes = Self.indexed(depth, 40)
      bytes.replaceSubrange(10..<14, with: Self.long(offset))
      #expect(try pixels(bytes) == Self.colours.flatMap(\.self), "\(depth)")
    }
  }

  @Test func noOffsetAndNoCompressionEndsTheProcess() throws {
    for (depth, compression) in [(8, 0), (16, 0), (16, 3), (32, 0), (32, 3), (32, 6), (24, 0)] {
      for length in [40, 108, 124] {
        for offset in 0...150 {
          var info = Self.info(length, depth: depth, compression: compression)
          if info.count >= 52 { info.replaceSubrange(40..<52, with: [0xF8, 0, 0, 0, 0xE0, 7, 0, 0, 0x1F, 0, 0, 0]) }
          var bytes = Self.file(
            info, [0xF8, 0, 0, 0, 0xE0, 7, 0, 0, 0x1F, 0, 0, 0] + [UInt8](repeating: 7, count: 400))
          bytes.replaceSubrange(10..<14, with: Self.long(offset))
          _ = try? pixels(bytes)
        }
      }
    }
  }

  @Test(arguments: [40, 108, 124]) func aBitmapInAnIconIsTransparentWhereItsMaskOrItsPixelsSay(header: Int) throws {
    // The second pixel of the lower row, and the third of the upper one.
    let mask: [UInt8] = [0x40, 0, 0, 0, 0x20, 0, 0, 0]
    let masked: [UInt8] = [255, 255, 0, 255, 0, 255]
    let colours = Self.colours.flatMap(\.self)
    let rows32 = { (alpha: UInt8) in Self.rows(depth: 32) { $0.flatMap { $0.reversed() + [alpha] } } }
    let indexed = Self.indexed(8, 40).dropFirst(54)
    for (depth, pixels, alphas) in [
      (24, Self.rows24 + mask, masked), (24, Self.rows24, Array(repeating: 255, count: 6)),
      (32, rows32(0) + mask, masked), (32, rows32(200) + mask, Array(repeating: 200, count: 6)),
      (8, indexed + mask, masked),
    ] {
      let seen = try self.pixels(Self.info(header, depth: depth, height: 4) + pixels, ofIcon: true)
      #expect(seen == zip(colours, alphas).map { $0 + [$1] }, "\(header) \(depth)")
    }
    // A profile where the mask would be.
    guard header == 124 else { return }
    var profiled = Self.info(124, depth: 24, height: 4)
    profiled.replaceSubrange(56..<60, with: Array("DEBM".utf8))
    profiled.replaceSubrange(112..<116, with: Self.long(124 + Self.rows24.count))
    let seen = try pixels(profiled + Self.rows24 + [UInt8](repeating: 0xFF, count: 40), ofIcon: true)
    #expect(seen == colours.map { $0 + [255] })
  }

  @Test func theFirstOfAnArrayIsRead() throws {
    var inner = Self.file(Self.info(40, depth: 24), Self.rows24)
    inner.replaceSubrange(10..<14, with: Self.long(14 + 54))
    let array = Array("BA".utf8) + Self.long(40) + Self.long(0) + Self.word(0) + Self.word(0) + inner
    #expect(Sniffer.sniff(HeaderBytes(array), isAll: true) == .format(.bmp))
    #expect(try pixels(array) == Self.colours.flatMap(\.self))
  }

  @Test func sixteenBitsAreStretched() throws {
    let rows = Self.rows(depth: 16) { row in
      row.flatMap { Self.word((Int($0[0]) >> 3) << 10 | (Int($0[1]) >> 3) << 5 | Int($0[2]) >> 3) }
    }
    let seen = try pixels(Self.file(Self.info(40, depth: 16), rows))
    for (pixel, wanted) in zip(seen.joined(), Self.colours.joined().joined()) {
      #expect(abs(Int(pixel) - Int(wanted)) <= 4)
    }
  }

  @Test(arguments: [(30_000, 1), (1, 30_000), (65_500, 1), (1, 65_500)])
  func extremeShapesAreRead(width: Int, height: Int) throws {
    try Codec.start()
    var info = Self.info(40, depth: 24)
    info.replaceSubrange(4..<12, with: Self.long(width) + Self.long(height))
    let row = (width * 3 + 3) / 4 * 4
    let bytes = Self.file(info, [UInt8](repeating: 77, count: row * height))
    try bytes.withUnsafeBytes { raw in
      let picture = try #require(try BitmapReader(raw)).image(isTolerant: false)
      #expect(picture.size == PixelSize(width, height))
    }
  }

  @Test func aTruncatedOneIsAnErrorAndTheRowsThatAreThereAreShownWhereThatIsAccepted() throws {
    try Codec.start()
    let whole = Self.file(Self.info(40, depth: 24), Self.rows24)
    try whole.dropLast(10).withUnsafeBytes { raw in
      let reader = try #require(try BitmapReader(raw))
      #expect(throws: CodecError.self) { try reader.image(isTolerant: false) }
      let picture = try reader.image(isTolerant: true)
      #expect(picture.size == PixelSize(3, 2))
    }
  }

  @Test func whatDoesNotAddUpIsLeftToOthers() throws {
    let good = Self.info(40, depth: 24)
    for (offset, value) in [(14, 23), (4, 0), (8, 0), (16, 1), (16, 9), (0, 41)] {
      var info = good
      info.replaceSubrange(offset..<offset + 2, with: Self.word(value))
      #expect(try BitmapHeader(HeaderBytes(Self.file(info, Self.rows24))) == nil, "\(offset): \(value)")
    }
    for length in 0..<54 { _ = try BitmapHeader(HeaderBytes(Array(Self.file(good, Self.rows24).prefix(length)))) }
    #expect(Sniffer.sniff(HeaderBytes(Array("BMW and other cars are not pictures".utf8)), isAll: true) != .format(.bmp))
  }
}
