@testable import JPEGCoefficients

import TestSupport

@Suite struct ScanWatcherTests {
  /// Progressive files of several encoders: the DC in one scan for all components, or in one for each.
  static let files = [
    "jpeg-progressive.jpg", "jpeg-progressive-444.jpg", "jpeg-progressive-separate-dc.jpg", "jpeg-gray-progressive.jpg",
    "jpeg-restart-progressive.jpg", "icc-adobe-rgb-progressive.jpg", "orientation-6-progressive.jpg",
  ]

  @Test(arguments: files) func tellsWhatAWalkOverTheWholeFileTells(name: String) throws {
    let bytes = [UInt8](try TestImages.bytes("formats/\(name)"))
    let watcher = watched(bytes, pieces: bytes.count)
    for scale in [JPEGScale.eighth, .quarter] {
      let expected = try #require(lengthByWalking(bytes, scale))
      #expect(watcher.sufficientLength(for: scale) == expected)
      #expect(watched(Array(bytes[..<expected]), pieces: expected).sufficientLength(for: scale) == expected)
      #expect(watched(Array(bytes[..<(expected - 1)]), pieces: expected).sufficientLength(for: scale) == nil)
    }
    let (eighth, quarter) = (watcher.sufficientLength(for: .eighth), watcher.sufficientLength(for: .quarter))
    // Chroma that is subsampled takes more than its DC coefficients.
    #expect(try #require(eighth) <= #require(quarter))
    if name == "jpeg-progressive-444.jpg" { #expect(eighth != quarter) }
    #expect(watcher.finestScale == .half)
    // What has been seen may be refined, too.
    let half = try #require(watcher.sufficientLength(for: .half))
    #expect(try half >= #require(lengthByWalking(bytes, .half)))
    #expect(watched(Array(bytes[..<half]), pieces: half).sufficientLength(for: .half) == half)
    #expect(watched(Array(bytes[..<(half - 1)]), pieces: half).sufficientLength(for: .half) == nil)
  }

  @Test(arguments: files) func pieceSizesDoNotMatter(name: String) throws {
    let bytes = [UInt8](try TestImages.bytes("formats/\(name)").prefix(20_000))
    let whole = watched(bytes, pieces: bytes.count)
    for size in Array(1...40) + [63, 64, 255, 1000, 16_384] {
      let inPieces = watched(bytes, pieces: size)
      for scale in JPEGScale.reduced {
        #expect(inPieces.sufficientLength(for: scale) == whole.sufficientLength(for: scale), "pieces of \(size)")
      }
    }
  }

  @Test func promisesNothingOfOtherFiles() throws {
    for name in [
      "formats/jpeg-420.jpg", "formats/jpeg-not-interleaved.jpg", "formats/jpeg-arithmetic-progressive.jpg",
      "formats/png-rgb.png", "formats/webp-lossy.webp", "broken/random-bytes.jpg", "broken/one-byte.jpg",
      "broken/truncated-progressive-in-the-first-scan.jpg",
    ] {
      let bytes = [UInt8](try TestImages.bytes(name))
      #expect(watched(bytes, pieces: 100).finestScale == nil, "\(name)")
    }
  }

  @Test func aFileThatBreaksOffBetweenTheScalesIsEnoughForTheCoarserOne() throws {
    let whole = [UInt8](try TestImages.bytes("formats/jpeg-progressive-444.jpg"))
    let length = try #require(watched(whole, pieces: whole.count).sufficientLength(for: .quarter))
    #expect(watched(Array(whole.prefix(length - 1)), pieces: 7).finestScale == .eighth)
    let separate = [UInt8](try TestImages.bytes("broken/truncated-separate-dc-before-the-third-scan.jpg"))
    #expect(watched(separate, pieces: 7).finestScale == nil)
  }

  @Test func everyComponentMustHaveComeAndOnlyFirstScansCount() {
    let (y, cb, cr) = (scan([1], 0, 0), scan([2], 0, 0), scan([3], 0, 0))
    #expect(lengths(of: [y, cb]) == [nil, nil])
    #expect(lengths(of: [y, cb, scan([1], 0, 0, previous: 1), cr])[0] != nil)
    #expect(lengths(of: [y, cb, cr])[1] == nil)
    #expect(lengths(of: [y, cb, cr, scan([1], 1, 5), scan([2], 1, 63)])[1] == nil)
    #expect(lengths(of: [y, cb, cr, scan([1], 1, 5), scan([2], 1, 63), scan([3], 1, 4)])[1] != nil)
  }

  @Test func chromaThatIsSubsampledNeedsMoreThanItsFirstCoefficients() {
    var subsampled = start
    subsampled[13] = 0x22
    let (dc, cb, cr) = (scan([1, 2, 3], 0, 0), scan([2], 1, 63), scan([3], 1, 63))
    #expect(lengths(of: [dc, cb], start: subsampled) == [nil, nil])
    let all = lengths(of: [dc, scan([2], 1, 4), scan([3], 1, 4)], start: subsampled)
    #expect(all[0] != nil && all[1] == nil)
    let more = lengths(of: [dc, cb, cr, scan([1], 1, 5)], start: subsampled)
    #expect(more[0] != nil && more[1] != nil)
  }

  @Test func aCoarseFirstScanIsEnoughUnlessItsStepShows() {
    let (coarse, finer) = (scan([1, 2, 3], 0, 0, bit: 1), scan([1, 2, 3], 0, 0, previous: 1))
    for (quantiser, isVisible) in [(UInt8(8), false), (9, true)] {
      let tables = start + quantisers(0, 3) + quantisers(1, quantiser)
      #expect((lengths(of: [coarse], start: tables)[0] == nil) == isVisible)
      #expect(lengths(of: [coarse, finer], start: tables)[0] != nil)
      #expect((lengths(of: [coarse, scan([1], 0, 0, previous: 1)], start: tables)[0] == nil) == isVisible)
    }
  }

  @Test func coveredDataIsPassedWhateverItHolds() {
    // Stuffed zeros, restart markers and fill bytes are no end of a scan.
    let data: [UInt8] = [1, 0xFF, 0, 2, 0xFF, 0xD3, 3, 0xFF, 0xFF, 0xFF, 0, 0xFF, 0xD7]
    var bytes = start + scan([1, 2, 3], 0, 0) + data
    let length = bytes.count
    #expect(watched(bytes, pieces: 3).finestScale == nil)
    bytes += [0xFF, 0xFF, 0xFF]
    #expect(watched(bytes, pieces: 3).finestScale == nil)
    bytes += [0xC4]
    #expect(watched(bytes, pieces: 3).sufficientLength(for: .eighth) == length + 4)
  }

  @Test func nonsenseEndsTheWatchAndHoldsNothing() {
    let hostile: [[UInt8]] = [
      start + start, start + [0xFF, 0xDA, 0, 2], start + [0xFF, 0xDA, 0xFF, 0xFF],
      start + scan([1, 2, 3], 5, 2), [0xFF, 0xD8, 0xFF, 0xC2, 0, 8, 8, 0, 9, 0, 9, 0],
      [0xFF, 0xD8, 0xFF, 0xC2, 0xFF, 0xFF], [0xFF, 0xD8, 0xFF, 0xE0, 0, 1], [0xFF, 0xD8] + scan([1, 2, 3], 0, 0),
    ]
    for head in hostile {
      #expect(watched(head + scan([1, 2, 3], 0, 0) + [7, 0xFF, 0xD9], pieces: 2).finestScale == nil, "\(head)")
    }
    var endless = start
    for _ in 0..<200 { endless += scan([1], 0, 0, previous: 1) }
    #expect(watched(endless + scan([1, 2, 3], 0, 0) + [0xFF, 0xD9], pieces: 999).finestScale == nil)
  }

  @Test func randomChangesNeverTrap() throws {
    let original = [UInt8](try TestImages.bytes("formats/jpeg-progressive-separate-dc.jpg").prefix(6000))
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      var bytes = original
      for _ in 0..<8 { bytes[Int.random(in: 2..<bytes.count, using: &random)] = UInt8.random(in: 0...255) }
      let whole = watched(bytes, pieces: bytes.count)
      let pieces = watched(bytes, pieces: Int.random(in: 1...300, using: &random))
      #expect(whole.sufficientLength(for: .eighth) == pieces.sufficientLength(for: .eighth))
      #expect(whole.sufficientLength(for: .quarter) == pieces.sufficientLength(for: .quarter))
    }
  }

  // MARK: Made files

  /// The start of a progressive file of three components, none of them subsampled.
  private let start: [UInt8] =
    [0xFF, 0xD8, 0xFF, 0xC2, 0, 17, 8, 0, 64, 0, 64, 3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1]

  /// A quantisation table whose numbers are all the same.
  private func quantisers(_ slot: UInt8, _ value: UInt8) -> [UInt8] {
    [0xFF, 0xDB, 0, 67, slot] + [UInt8](repeating: value, count: 64)
  }

  private func scan(
    _ components: [UInt8], _ first: UInt8, _ last: UInt8, previous: UInt8 = 0, bit: UInt8 = 0
  ) -> [UInt8] {
    var bytes: [UInt8] = [0xFF, 0xDA, 0, UInt8(6 + 2 * components.count), UInt8(components.count)]
    for component in components { bytes += [component, 0] }
    bytes += [first, last, previous << 4 | bit]
    return bytes
  }

  private func lengths(of scans: [[UInt8]], start: [UInt8]? = nil) -> [Int?] {
    var bytes = start ?? self.start
    for scan in scans { bytes += scan + [1, 2, 3] }
    let watcher = watched(bytes + [0xFF, 0xD9], pieces: 5)
    return [watcher.sufficientLength(for: .eighth), watcher.sufficientLength(for: .quarter)]
  }

  private func watched(_ bytes: [UInt8], pieces: Int) -> ScanWatcher {
    var watcher = ScanWatcher()
    for start in stride(from: 0, to: bytes.count, by: max(1, pieces)) {
      bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { watcher.feed($0) }
    }
    return watcher
  }

  /// What a scale needs of a valid file, found the simplest way: byte by byte.
  private func lengthByWalking(_ bytes: [UInt8], _ scale: JPEGScale) -> Int? {
    var position = 2
    var wanted: Set<[Int]> = []
    while position + 4 <= bytes.count, bytes[position] == 0xFF, bytes[position + 1] != 0xD9 {
      let marker = bytes[position + 1]
      let contents = Array(
        bytes[(position + 4)..<(position + 2 + Int(bytes[position + 2]) << 8 + Int(bytes[position + 3]))])
      position += 4 + contents.count
      if marker == 0xC2 {
        let factors = (0..<Int(contents[5])).map { Int(contents[7 + 3 * $0]) }
        for (index, factor) in factors.enumerated() {
          let subsampling = max(
            (factors.map { $0 >> 4 }.max() ?? 1) / (factor >> 4), (factors.map { $0 & 15 }.max() ?? 1) / (factor & 15))
          let side = scale.side(subsampling: subsampling)
          for coefficient in 0..<64 where side.positions >> UInt64(coefficient) & 1 == 1 {
            wanted.insert([Int(contents[6 + 3 * index]), coefficient])
          }
        }
      }
      guard marker == 0xDA else { continue }
      while !(bytes[position] == 0xFF && bytes[position + 1] != 0 && !(0xD0...0xD7).contains(bytes[position + 1])) {
        position += 1
      }
      let count = Int(contents[0])
      guard contents[3 + 2 * count] >> 4 == 0 else { continue }
      for index in 0..<count {
        for coefficient in Int(contents[1 + 2 * count])...Int(contents[2 + 2 * count]) {
          wanted.remove([Int(contents[1 + 2 * index]), coefficient])
        }
      }
      if wanted.isEmpty { return position + 2 }
    }
    return nil
  }
}
