package import ThumbnailCore

/// Finds out which bytes of a file its thumbnails need, while parts of it arrive: those of the header one after another,
/// then all others at once.
package struct RangePlan: Sendable {
  /// The next thing to do.
  package enum Step: Sendable, Equatable {
    /// These bytes are missing, near ranges merged.
    case fetch([Range<Int>])
    /// What is needed is there, with the image's header if it was parsed.
    case done(ImageProbe?)
  }

  /// The fewest bytes that are requested of a header.
  static let leastOfHeader = 64 << 10
  /// Ranges with fewer bytes between them are requested as one: a request costs about as much.
  static let mostBetween = 32 << 10

  /// The last request but one for a header that is in this part of the file reads on to its end.
  static let shareOfEnd = 4

  private var need: BodyNeed
  private let limits: DecodeLimits
  private var parser = SniffingParser()
  private var wanted: Range<Int>? = SniffingParser.firstRange
  /// Whether all of the file is needed.
  private var needsAll = false

  package init(_ need: BodyNeed, limits: DecodeLimits) { (self.need, self.limits) = (need, limits) }

  /// What to do next with a file of which these bytes are there. What cannot be parsed here needs all of it.
  ///
  /// - Parameter requests: How many requests there may be for what is missing, at least one. With the last one the
  ///   rest is fetched.
  package mutating func next(in body: ByteSource, known: RangeSet<Int>, requests: Int) -> Step {
    let whole = RangeSet([0..<body.count])
    let probe = needsAll ? nil : parse(body, known)
    if let wanted, !needsAll {
      guard requests > 1 else { return fetch(whole, known, requests) }
      var end = max(wanted.upperBound, wanted.lowerBound + Self.leastOfHeader)
      // The directories of a TIFF's smaller levels are spread over the end of the file.
      if requests == 2, body.count - wanted.lowerBound <= body.count / Self.shareOfEnd { end = body.count }
      return fetch(RangeSet([wanted.lowerBound..<end]).intersection(whole), known, 1)
    }
    guard let probe, !needsAll, case .ranges(let ranges) = need.extent(probe) else {
      return fetch(whole, known, requests)
    }
    return fetch(ranges.intersection(whole), known, requests, probe)
  }

  /// Parses the header as far as it is there; `wanted` is nil once it is known.
  private mutating func parse(_ body: ByteSource, _ known: RangeSet<Int>) -> ImageProbe? {
    do {
      while let range = wanted {
        let there = range.clamped(to: 0..<body.count)
        guard RangeSet([there]).isSubset(of: known) else { return nil }
        wanted = try parser.parse(HeaderBytes(body.read(at: there.lowerBound, length: there.count)))
        guard let draft = parser.draft else { continue }
        try limits.check(draft)
        // More frames do not change what is needed.
        if parser.isSettled { wanted = nil }
      }
    } catch {
      needsAll = true
    }
    return parser.draft
  }

  private func fetch(
    _ ranges: RangeSet<Int>, _ known: RangeSet<Int>, _ requests: Int, _ probe: ImageProbe? = nil
  ) -> Step {
    let missing = Self.merged(Array(ranges.subtracting(known).ranges), atMost: requests)
    return missing.isEmpty ? .done(probe ?? parser.draft) : .fetch(missing)
  }

  /// The ranges with all gaps between them filled but the longest, and none of those that are short. They are in order.
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
