package import ThumbnailCore

/// Finds the bytes of a file that its thumbnails need, while parts of it arrive: the header's one after another, then
/// all others at once.
package struct RangePlan: Sendable {
  /// The next thing to do.
  package enum Step: Sendable, Equatable {
    /// These bytes are missing, near ranges merged.
    case fetch([Range<Int>])
    /// All needed bytes have arrived.
    case done(ImageProbe)
    /// Parts are not worthwhile: most of the file is needed, or its header is spread over too many places, or cannot be
    /// parsed here.
    case whole
  }

  /// The smallest request for a part of the header, in bytes.
  static let leastOfHeader = 64 << 10
  /// Ranges with fewer bytes between them are requested as one: a request costs about as much.
  static let mostBetween = 32 << 10
  /// The most requests for the tiles that a HEIC's thumbnail is compared with, and for the thumbnail.
  static let mostOfTiles = 9
  /// The last request but one, if it is in the last part of the file (one in `shareOfEnd`), reads on to the end.
  static let shareOfEnd = 4

  private var need: BodyNeed
  private let limits: DecodeLimits
  private var parser = SniffingParser()
  private var wanted: Range<Int>? = SniffingParser.firstRange

  package init(_ need: BodyNeed, limits: DecodeLimits) { (self.need, self.limits) = (need, limits) }

  /// The next step for a file after these bytes have arrived.
  ///
  /// - Parameter requests: The number of requests left.
  /// - Throws: The refusal of the image for its size or format.
  package mutating func next(
    in body: ByteSource, known: RangeSet<Int>, requests: Int
  ) throws(CodecError) -> Step {
    do throws(CodecError) {
      try parse(body, known)
    } catch {
      if case .limitExceeded = error { throw error }
      return .whole
    }
    let needed: RangeSet<Int>
    if let wanted {
      // One more request is for the bytes that the header points to.
      guard requests > 1 else { return .whole }
      var end = max(wanted.upperBound, wanted.lowerBound + Self.leastOfHeader)
      // The directories of a TIFF's smaller levels are spread over the end of the file.
      if requests == 2, body.count - wanted.lowerBound <= body.count / Self.shareOfEnd { end = body.count }
      needed = RangeSet([wanted.lowerBound..<end])
    } else {
      guard let probe = parser.draft, case .ranges(let ranges) = need.extent(probe) else { return .whole }
      if ranges.isSubset(of: known) { return .done(probe) }
      needed = ranges
    }
    let missing = needed.intersection(RangeSet([0..<body.count])).subtracting(known)
    // Needed bytes may be beyond the file's end.
    guard requests > 0, !missing.isEmpty, missing.byteCount <= body.count / 2 else { return .whole }
    let most = parser.draft?.heif == nil ? requests : max(requests, Self.mostOfTiles)
    return .fetch(Self.merged(Array(missing.ranges), atMost: wanted == nil ? most : 1))
  }

  /// Parses the existing part of the header; `wanted` is nil once it is known.
  private mutating func parse(_ body: ByteSource, _ known: RangeSet<Int>) throws(CodecError) {
    while let range = wanted {
      let there = range.clamped(to: 0..<body.count)
      guard RangeSet([there]).isSubset(of: known) else { return }
      wanted = try parser.parse(HeaderBytes(try body.bytes(at: there.lowerBound, length: there.count)))
      guard let draft = parser.draft else { continue }
      try limits.check(draft)
      // More frames do not change the needed bytes.
      if parser.isSettled { wanted = nil }
    }
  }

  /// The ranges in order, with all gaps filled except the longest ones, and all short gaps filled.
  static func merged(_ ranges: [Range<Int>], atMost most: Int) -> [Range<Int>] {
    let gaps = zip(ranges, ranges.dropFirst()).map { $1.lowerBound - $0.upperBound }
    let longest = gaps.indices.filter { gaps[$0] >= mostBetween }.sorted { gaps[$0] > gaps[$1] }.prefix(
      max(0, most - 1))
    var merged: [Range<Int>] = []
    var start = 0
    for end in longest.sorted() + [ranges.count - 1] where ranges.indices.contains(end) {
      merged.append(ranges[start].lowerBound..<ranges[end].upperBound)
      start = end + 1
    }
    return merged
  }
}
