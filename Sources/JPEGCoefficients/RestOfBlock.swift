/// The handling of a block's coefficients that its samples do not need.
protocol RestOfBlock {
  /// For a block of `step`, whose coefficients are exact to `bit`, and whose last zigzag position in this scan is `last`.
  init(_ step: UnsafeMutablePointer<BlockStep>, last: Int, bit: Int, isProgressive: Bool)

  /// Notes a coefficient that was decoded; its zigzag position may be beyond 63 if the data are damaged.
  mutating func note(_ position: Int, _ value: Int)

  /// Reads the coefficients after a position.
  mutating func take(_ window: inout BitWindow, after position: Int) -> BitWindow.EmptyBlocks

  /// Ends the block, and moves on to the next.
  mutating func finish(_ step: UnsafeMutablePointer<BlockStep>)

  /// Passes blocks without such coefficients.
  static func pass(_ blocks: Int, _ step: UnsafeMutablePointer<BlockStep>)
}

/// They are skipped, several at a time.
struct SkippedCoefficients: RestOfBlock {
  private let table: HuffmanTable.Lookup
  private let last: Int
  private let isProgressive: Bool

  @inline(__always)
  init(_ step: UnsafeMutablePointer<BlockStep>, last: Int, bit: Int, isProgressive: Bool) {
    (table, self.last, self.isProgressive) = (step.pointee.ac, last, isProgressive)
  }

  @inline(__always)
  mutating func note(_ position: Int, _ value: Int) {}

  @inline(__always)
  mutating func take(_ window: inout BitWindow, after position: Int) -> BitWindow.EmptyBlocks {
    window.skipCoefficients(table, after: position, last: last, isProgressive: isProgressive)
  }

  @inline(__always)
  mutating func finish(_ step: UnsafeMutablePointer<BlockStep>) {}

  @inline(__always)
  static func pass(_ blocks: Int, _ step: UnsafeMutablePointer<BlockStep>) {}
}

/// They are left unread, because it is known where the next block begins.
struct UnreadCoefficients: RestOfBlock {
  @inline(__always)
  init() {}

  @inline(__always)
  init(_ step: UnsafeMutablePointer<BlockStep>, last: Int, bit: Int, isProgressive: Bool) {}

  @inline(__always)
  mutating func note(_ position: Int, _ value: Int) {}

  @inline(__always)
  mutating func take(_ window: inout BitWindow, after position: Int) -> BitWindow.EmptyBlocks { 0 }

  @inline(__always)
  mutating func finish(_ step: UnsafeMutablePointer<BlockStep>) {}

  @inline(__always)
  static func pass(_ blocks: Int, _ step: UnsafeMutablePointer<BlockStep>) {}
}

/// Their squares are added up, each with the weight of its position: `BlockDeviations` has the sums.
struct MeasuredCoefficients: RestOfBlock {
  private let table: HuffmanTable.Lookup
  /// `BlockScaling.energies`.
  private let energies: UnsafePointer<Float>
  private let last: Int
  private let isProgressive: Bool
  /// The square of the value of 1.
  private let scale: Float
  /// The mean amount that missing bits add to a coefficient that is not 0.
  private let doubt: Float
  private var sum: Float = 0

  @inline(__always)
  init(_ step: UnsafeMutablePointer<BlockStep>, last: Int, bit: Int, isProgressive: Bool) {
    (table, energies, self.last, self.isProgressive) = (step.pointee.ac, step.pointee.energies, last, isProgressive)
    (scale, doubt) = (Float(1 &<< (2 &* bit)), bit > 0 ? HuffmanTable.doubt : 0)
  }

  @inline(__always)
  mutating func note(_ position: Int, _ value: Int) {
    // A run of 16 zeros has none.
    let magnitude = value == 0 ? 0 : Float(abs(value)) + doubt
    sum += magnitude * magnitude * energies[position & 63]
  }

  @inline(__always)
  mutating func take(_ window: inout BitWindow, after position: Int) -> BitWindow.EmptyBlocks {
    window.measureCoefficients(
      table, after: position, last: last, isProgressive: isProgressive, weights: energies, sum: &sum)
  }

  @inline(__always)
  mutating func finish(_ step: UnsafeMutablePointer<BlockStep>) {
    step.pointee.sums?.pointee += sum * scale
    Self.pass(1, step)
  }

  @inline(__always)
  static func pass(_ blocks: Int, _ step: UnsafeMutablePointer<BlockStep>) {
    step.pointee.sums = step.pointee.sums.map { $0 + blocks &* step.pointee.blockAdvance }
  }
}

extension BitWindow {
  /// Skips the coefficients of the zigzag positions after `position` up to `last`, and adds their squares to `sum`,
  /// each times the weight of its position (64 elements). The squares are the expected ones for the number of bits, and
  /// coefficients that are skipped together have the weight of the last.
  @inline(__always)
  mutating func measureCoefficients(
    _ table: HuffmanTable.Lookup, after position: Int, last: Int, isProgressive: Bool, weights: UnsafePointer<Float>,
    sum: inout Float
  ) -> EmptyBlocks {
    var position = position
    while true {
      fill()
      // An entry consumes at most 12 bits and the value bits of one symbol, so the window has enough for two.
      var entry = table.measured[Int(truncatingIfNeeded: bits &>> 52)]
      var reached = position &+ Int(truncatingIfNeeded: (entry &>> 8) & 0xFF)
      if reached < last {
        drop(UInt64(truncatingIfNeeded: entry & 0x1F))
        sum += Float(entry &>> 16) * weights[reached]
        position = reached
        entry = table.measured[Int(truncatingIfNeeded: bits &>> 52)]
        reached = position &+ Int(truncatingIfNeeded: (entry &>> 8) & 0xFF)
        if reached < last {
          drop(UInt64(truncatingIfNeeded: entry & 0x1F))
          sum += Float(entry &>> 16) * weights[reached]
          position = reached
          continue
        }
      }
      // The last coefficient is reached, or the block has ended before it.
      if reached == last || UInt(bitPattern: reached &- HuffmanTable.endOfBlock) < UInt(bitPattern: last) {
        drop(UInt64(truncatingIfNeeded: entry & 0x1F))
        sum += Float(entry &>> 16) * weights[reached & 63]
        return 0
      }
      let (size, end) = skipSymbol(table, &position, last: last, isProgressive: isProgressive)
      // The mean square for this number of bits. A run of 16 zeros has none.
      if size > 0 && position <= last { sum += Float(1 &<< (2 &* size)) * 0.58 * weights[position] }
      if let end { return end }
    }
  }
}
