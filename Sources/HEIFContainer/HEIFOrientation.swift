/// Rotations and mirrorings, one after another.
struct HEIFOrientation: Sendable, Hashable {
  /// The directions of the axes: across' = a·across + b·down, down' = c·across + d·down.
  private var (a, b, c, d) = (1, 0, 0, 1)

  /// The EXIF orientations of the eight matrices.
  private static let exif: [[Int]: Int] = [
    [1, 0, 0, 1]: 1, [-1, 0, 0, 1]: 2, [-1, 0, 0, -1]: 3, [1, 0, 0, -1]: 4, [0, 1, 1, 0]: 5, [0, -1, 1, 0]: 6,
    [0, -1, -1, 0]: 7, [0, 1, -1, 0]: 8,
  ]

  mutating func rotateAntiClockwise(quarterTurns: Int) {
    for _ in 0..<quarterTurns & 3 { (a, b, c, d) = (c, d, -a, -b) }
  }

  mutating func exchangeSides() { (a, b) = (-a, -b) }

  mutating func exchangeTopAndBottom() { (c, d) = (-c, -d) }

  /// The number of the EXIF orientation that has an image shown like that, 1 to 8.
  var exif: Int { Self.exif[[a, b, c, d]] ?? 1 }
}
