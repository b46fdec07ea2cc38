import ThumbnailCore

/// What precedes the entropy-coded data of a baseline JPEG.
struct JPEGFileHeader {
  /// The end of an image.
  static let end: [UInt8] = [0xFF, 0xD9]
  /// The most bytes of an ICC profile in a segment.
  private static let mostOfProfile = 65_519

  /// The start of an image, and JFIF 1.1 without a density.
  private(set) var bytes: [UInt8] = [
    0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0,
  ]

  init(profile: [UInt8]? = nil) {
    let profile = profile ?? []
    let parts = (profile.count + Self.mostOfProfile - 1) / Self.mostOfProfile
    for part in 0..<min(parts, 255) {
      let contents = profile.dropFirst(part * Self.mostOfProfile).prefix(Self.mostOfProfile)
      add(0xE2, Array("ICC_PROFILE".utf8) + [0, UInt8(part + 1), UInt8(parts)] + contents)
    }
  }

  private mutating func add(_ marker: UInt8, _ contents: [UInt8]) {
    let length = contents.count + 2
    bytes += [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)]
    bytes += contents
  }

  mutating func addQuantisers(_ tables: [[UInt8]]) {
    add(0xDB, tables.enumerated().flatMap { [UInt8($0)] + $1 })
  }

  /// The first of three components is sampled twice as often in both directions.
  mutating func addFrame(_ size: PixelSize, components: Int) {
    let sides = [size.height >> 8, size.height & 0xFF, size.width >> 8, size.width & 0xFF].map { UInt8($0) }
    let sampling: [UInt8] = components == 1 ? [1, 0x11, 0] : [1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
    add(0xC0, [8] + sides + [UInt8(components)] + sampling)
  }

  /// DC and AC of luma, then of chroma.
  mutating func addCodes(_ codes: [HuffmanCode]) {
    let names: [UInt8] = [0x00, 0x10, 0x01, 0x11]
    add(0xC4, zip(names, codes).flatMap { [$0] + $1.lengths + $1.symbols })
  }

  mutating func addScan(components: Int) {
    add(0xDA, [UInt8(components)] + (components == 1 ? [1, 0] : [1, 0x00, 2, 0x11, 3, 0x11]) + [0, 63, 0])
  }
}
