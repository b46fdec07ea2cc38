/// The samples across and down of each reduced block of a component.
enum BlockSide: Int, Sendable {
  case one = 1, two = 2, four = 4, eight = 8

  /// The smallest side of at least `samples`, at most 8.
  init(atLeast samples: Int) { self = samples <= 1 ? .one : samples <= 2 ? .two : samples <= 4 ? .four : .eight }

  /// The samples of a block.
  var count: Int { rawValue * rawValue }

  /// The last zigzag position whose coefficient is kept. Kept are as many frequencies across and down as there are
  /// samples; coefficients in between are ignored.
  var lastPosition: Int {
    switch self {
    case .one: 0
    case .two: 4
    case .four: 24
    case .eight: 63
    }
  }

  /// The zigzag positions whose coefficients are kept, as a bit mask.
  var positions: UInt64 {
    (0..<64).reduce(0) { mask, position in
      let natural = Int(Self.naturalOrder[position])
      let isKept = natural & 7 < rawValue && natural >> 3 < rawValue
      return isKept ? mask | 1 << UInt64(position) : mask
    }
  }

  /// For each zigzag position the index of its coefficient in rows of `rawValue`; `count` if it is not kept.
  var slots: [UInt8] {
    Self.naturalOrder.map { natural in
      let (across, down) = (Int(natural & 7), Int(natural >> 3))
      return UInt8(across < rawValue && down < rawValue ? down * rawValue + across : count)
    }
  }

  /// For each zigzag position the index of its coefficient in rows of eight.
  static let naturalOrder: [UInt8] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63,
  ]
}
