@testable import JPEGCoefficients
import Testing

/// Which scans of a progressive file are read at 1/2, where the bits that come late may show.
@Suite struct ScanCoverageTests {
  /// One component of 4×4 coefficients, all of one quantiser.
  private struct File {
    var coverage: ScanCoverage
    var tables = QuantiserTables()

    init(quantiser: UInt8, _ scale: JPEGScale = .half) throws {
      let header: [UInt8] = [8, 0, 64, 0, 64, 1, 1, 0x11, 0]
      coverage = ScanCoverage(try JPEGFrame(SegmentBytes(header), marker: 0xC2), scale: scale)
      try tables.read(SegmentBytes([0] + [UInt8](repeating: quantiser, count: 64)))
    }

    /// Adds scans of these positions, exact to the second bit, as the reader does: which of them it reads.
    mutating func reads(_ scans: [(positions: ClosedRange<Int>, previous: Int, bit: Int)]) -> [Bool] {
      scans.map { positions, previous, bit in
        let scan = JPEGScan(components: [1], positions: positions, previousBit: previous, bit: bit)
        let isRead = coverage.needs(scan) && !coverage.contradicts(scan)
        coverage.add(scan, tables: tables, isSkipped: !isRead)
        return isRead
      }
    }
  }

  /// The bit that is enough of coefficients of a quantiser.
  @Test(arguments: [1: 1, 6: 1, 7: 0] as [UInt8: Int])
  func coarseCoefficientsAreRefinedUntilTheirStepDoesNotShow(_ quantiser: UInt8, _ enough: Int) throws {
    var file = try File(quantiser: quantiser)
    #expect(file.reads([(0...0, 0, 0), (1...5, 0, 2)]) == [true, true] && !file.coverage.isComplete)
    #expect(file.reads([(6...63, 0, 2)]) == [true] && file.coverage.isComplete)
    #expect(file.reads([(1...63, 2, 1)]) == [true])
    #expect(file.coverage.isEnough == (enough >= 1))
    #expect(file.reads([(1...63, 1, 0)]) == [enough < 1])
    #expect(file.coverage.isEnough)
  }

  @Test func coefficientsThatAreNotKeptAreReadWhereOthersAreCodedByThem() throws {
    var file = try File(quantiser: 20)
    #expect(file.reads([(0...0, 0, 0), (1...24, 0, 1)]) == [true, true] && file.coverage.isComplete)
    #expect(file.reads([(25...63, 0, 1), (1...63, 1, 0)]) == [true, true])
    // Exact from the start: nothing refines them.
    file = try File(quantiser: 20)
    #expect(file.reads([(0...0, 0, 0), (1...24, 0, 0)]) == [true, true] && file.coverage.isEnough)
    #expect(file.reads([(25...63, 0, 0)]) == [false])
  }

  @Test func aScanThatRefinesWhatWasNotReadContradicts() throws {
    for (first, previous) in [(1...24, 1), (1...63, 2)] {
      var file = try File(quantiser: 20)
      #expect(file.reads([(0...0, 0, 0), (first, 0, 1)]) == [true, true])
      let next = JPEGScan(components: [1], positions: 1...63, previousBit: previous, bit: previous - 1)
      #expect(file.coverage.contradicts(next))
    }
  }

  @Test func theLastBitOfADCCoefficientIsReadAtOneHalf() throws {
    for (scale, isRead) in [(JPEGScale.half, true), (.quarter, false)] {
      var file = try File(quantiser: 2, scale)
      #expect(file.reads([(0...0, 0, 1), (1...63, 0, 0), (0...0, 1, 0)]) == [true, true, isRead])
      // Read or not, no bit comes twice.
      #expect(file.coverage.contradicts(JPEGScan(components: [1], positions: 0...0, previousBit: 1, bit: 0)))
    }
  }

  @Test(arguments: [JPEGScale.eighth, .quarter]) func coarserScalesAreNeverRefined(_ scale: JPEGScale) throws {
    var file = try File(quantiser: 200, scale)
    #expect(file.reads([(0...0, 0, 0), (1...63, 0, 2)]) == [true, scale == .quarter])
    #expect(file.coverage.isEnough)
    #expect(file.reads([(1...63, 2, 1)]) == [false])
  }
}
