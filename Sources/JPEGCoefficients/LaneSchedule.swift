/// Decides how much of a scan lanes decode at a time, and when one lane alone is better, since the parts do not meet.
struct LaneSchedule {
  /// The sizes, which tests reduce.
  struct Sizes: Sendable {
    /// The bytes of a scan from which on lanes are used.
    var leastScan = 1 << 16
    /// The bytes of a part: at first, and at most.
    var shortestPart = 1 << 10
    var longestPart = 1 << 14
    /// The most parts at a time.
    var mostParts = 8
    /// The blocks that the list of a part has room for.
    var room = 1 << 14
    /// The bytes of a restart interval, in the mean, from which on lanes are used.
    var leastInterval = 1 << 8
    /// The bytes by which a part overlaps the next.
    var overlap = 128

    /// The bytes of an entropy buffer that holds all parts.
    var bufferLength: Int { longestPart * mostParts }
    /// The most bytes of the lists.
    var listBytes: Int { (room * mostParts + Lanes.mostBlocks + 1) * MemoryLayout<UInt32>.stride }
  }

  let sizes: Sizes
  /// The bytes of a part.
  private var length: Int
  /// The buffers for which lanes rest, and for how many they do after the next failure.
  private var rest = 0
  private var nextRest = 1

  init(_ sizes: Sizes) { (self.sizes, length) = (sizes, sizes.shortestPart) }

  /// Whether lanes may begin, if there is enough to do.
  var isOn: Bool { rest == 0 }

  /// The buffer has been loaded anew.
  mutating func bufferLoaded() { rest = max(0, rest - 1) }

  /// The length of a part, and the number of parts, for some bytes of data; nil if there are too few.
  func parts(of bytes: Int) -> (length: Int, count: Int)? {
    guard isOn, bytes >= Lanes.count * sizes.shortestPart else { return nil }
    // Lanes that end together, so a part for each or two.
    let isLong = length > sizes.shortestPart && bytes > (Lanes.count + 1) * length
    let count = isLong ? sizes.mostParts : Lanes.count
    return (min(length, (bytes + count - 1) / count), count)
  }

  /// Parts of some bits with so many blocks have met: the next may be longer, as far as the lists have room for.
  mutating func met(bits: Int, blocks: Int) {
    let fitting = sizes.room * bits / max(1, blocks) / 8 * 3 / 4
    length = max(sizes.shortestPart, min(4 * length, sizes.longestPart, fitting))
    nextRest = 1
  }

  /// Parts have not met.
  mutating func failed() {
    (length, rest, nextRest) = (sizes.shortestPart, nextRest, min(16, 2 * nextRest))
  }
}
