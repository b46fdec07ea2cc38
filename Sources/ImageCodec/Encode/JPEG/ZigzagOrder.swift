/// The order of a block's coefficients in a file, as tables for blocks that are stored by the frequency across, then
/// down.
struct ZigzagOrder: @unchecked Sendable {
  // Safety: the tables are never changed or freed.
  static let shared = ZigzagOrder()

  /// The place of each position's coefficient in a block.
  let places: UnsafePointer<UInt8>
  /// For each frequency down, and each set of frequencies across as 8 bits: the set of their positions. Without that of
  /// the DC coefficient.
  let positions: UnsafePointer<UInt64>
  /// What a coefficient or difference of −2048 to 2047 adds to its token: its size, and the bits that follow its code.
  let values: UnsafePointer<UInt32>

  private init() {
    let places = UnsafeMutablePointer<UInt8>.allocate(capacity: 64)
    let positions = UnsafeMutablePointer<UInt64>.allocate(capacity: 8 * 256)
    positions.initialize(repeating: 0, count: 8 * 256)
    for position in 0..<64 {
      let (across, down) = Self.frequencies[position]
      places[position] = UInt8(8 * across + down)
      for set in 0..<256 where position > 0 && set >> across & 1 == 1 {
        positions[256 * down + set] |= 1 << UInt64(position)
      }
    }
    let values = UnsafeMutablePointer<UInt32>.allocate(capacity: 4096)
    for value in -2048..<2048 {
      let size = Int.bitWidth - abs(value).leadingZeroBitCount
      let bits = (value < 0 ? value - 1 : value) & ((1 << size) - 1)
      values[value + 2048] = UInt32(size | bits << 16)
    }
    (self.places, self.positions, self.values) = (
      UnsafePointer(places), UnsafePointer(positions), UnsafePointer(values + 2048)
    )
  }

  /// The frequencies across and down of the positions: diagonals of alternating directions.
  static let frequencies = (0..<64).map { (across: $0 % 8, down: $0 / 8) }.sorted { rank($0) < rank($1) }

  private static func rank(_ frequency: (across: Int, down: Int)) -> Int {
    let diagonal = frequency.across + frequency.down
    return 8 * diagonal + (diagonal % 2 == 0 ? frequency.across : frequency.down)
  }
}
