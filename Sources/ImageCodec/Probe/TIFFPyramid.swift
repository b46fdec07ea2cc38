/// Collects the directories of a TIFF, and finds those of smaller copies of its first image.
///
/// A copy has the image's aspect ratio, apart from rounding, its samples and its photometric interpretation. Its
/// directory is marked as reduced, or it is one of a series in which each image has half the sides of the one before.
struct TIFFPyramid: Sendable {
  private struct Candidate {
    var place: TIFFLevel.Place
    var position: Int
    var page: TIFFPage
    var starts: [Int]?
    var lengths: [Int]?
  }

  private(set) var image: TIFFPage
  /// Images that are marked as reduced.
  private var marked: [Candidate] = []
  /// The pages after the first as long as each is half of the one before; nil once one is not.
  private var halves: [Candidate]? = []
  /// Subdirectories; one may be half of another.
  private var unmarked: [Candidate] = []
  /// The number of subdirectories without a mark.
  private var unmarkedCount = 0
  /// Whether another image has begun, to which the following reduced pages belong.
  private var isPastImage = false
  /// The reduced pages so far.
  private var reducedPages = 0

  /// The most levels, and the most subdirectories that are examined. A side of 65,535 can be halved 16 times.
  static let mostLevels = 32
  /// The most strips or tiles of a level whose places are read, and of all levels together.
  static let mostBlocks = 65_536
  static let mostBlocksInAll = 2 * mostBlocks
  /// The most reduced pages that do not count as pages, so that the number of directories is limited.
  private static let mostReducedPages = 64
  /// The tolerance for half a side, in pixels.
  private static let halfTolerance = 2

  /// For the image of the first directory, at a position of the file.
  init(of image: TIFFPage) { self.image = image }

  /// Whether a reader would show a page: not a reduced one or another's transparency.
  mutating func counts(_ page: TIFFPage) -> Bool {
    guard page.isReduced || page.isMask, reducedPages < Self.mostReducedPages else { return true }
    reducedPages += 1
    return false
  }

  /// Takes a directory. Returns whether it is a copy for certain if its samples have the image's bits.
  mutating func take(_ page: TIFFPage, at position: Int, _ place: TIFFLevel.Place) -> Bool {
    let candidate = Candidate(place: place, position: position, page: page)
    let isInOrder: Bool
    switch place {
    case .page:
      isInOrder = !isPastImage
      if !page.isReduced, !page.isMask { isPastImage = true }
      takeHalf(candidate)
    case .subdirectory:
      isInOrder = true
      if !page.isReduced {
        unmarkedCount += 1
        if fits(page), unmarked.count < Self.mostLevels { unmarked.append(candidate) }
      }
    }
    guard isInOrder, page.isReduced, !page.isMask, fits(page), marked.count < Self.mostLevels else { return false }
    marked.append(candidate)
    return true
  }

  private mutating func takeHalf(_ candidate: Candidate) {
    guard let others = halves else { return }
    let isHalf = !candidate.page.isReduced && fits(candidate.page)
    halves = isHalf && Self.isHalf(candidate.page, of: others.last?.page ?? image) ? others + [candidate] : nil
  }

  /// Whether a page has the aspect ratio and samples of the image, and is smaller.
  private func fits(_ page: TIFFPage) -> Bool {
    let (small, large) = (page.size, image.size)
    guard small.width > 0, small.height > 0, small.width <= large.width, small.height <= large.height, small != large
    else { return false }
    // Each side may be a pixel more or less.
    let (across, down) = (small.width * large.height, small.height * large.width)
    return abs(across - down) <= large.width + large.height && page.channels == image.channels
      && page.hasAlpha == image.hasAlpha && Self.areAlike(page.photometric, image.photometric)
  }

  /// RGB and YCbCr, which becomes RGB.
  private static let colours: Set = [2, 6]

  private static func areAlike(_ one: Int?, _ other: Int?) -> Bool {
    one == other || [one, other].allSatisfy { $0.map(colours.contains) == true }
  }

  private static func isHalf(_ page: TIFFPage, of other: TIFFPage) -> Bool {
    abs(2 * page.size.width - other.size.width) <= halfTolerance
      && abs(2 * page.size.height - other.size.height) <= halfTolerance && page.size.width < other.size.width
      && page.size.height < other.size.height
  }

  /// Finds the copies among unmarked directories, after all have been taken. Returns those whose bits and blocks have
  /// not been read yet.
  mutating func chooseHalves() -> [(TIFFLevel.Place, TIFFPage)] {
    guard marked.isEmpty else { return [] }
    let series = unmarked.sorted { $0.page.size.pixelCount > $1.page.size.pixelCount }
    let isSeries =
      !series.isEmpty && series.count == unmarkedCount
      && zip([image] + series.map(\.page), series).allSatisfy { Self.isHalf($1.page, of: $0) }
    marked = isSeries ? series : halves ?? []
    return marked.map { ($0.place, $0.page) }
  }

  /// Whether all pages are one image.
  var isOneImage: Bool { marked.contains { $0.place == .page(1) && !$0.page.isReduced } }

  // MARK: What is read later

  private mutating func change(_ place: TIFFLevel.Place, _ change: (inout Candidate) -> Void) {
    if let index = marked.firstIndex(where: { $0.place == place }) { change(&marked[index]) }
  }

  /// The first image's bits are those of `.page(0)`.
  mutating func set(bits: Int, of place: TIFFLevel.Place) {
    if place == .page(0) { image.bits = bits } else { change(place) { $0.page.bits = bits } }
  }

  mutating func set(starts: [Int]?, of place: TIFFLevel.Place) { change(place) { $0.starts = starts } }
  mutating func set(lengths: [Int]?, of place: TIFFLevel.Place) { change(place) { $0.lengths = lengths } }

  /// The levels that were found; nil if there are none. `head` is the range of the file's header.
  func traits(head: Range<Int>) -> TIFFTraits? {
    let levels = marked.filter { $0.page.bits == image.bits }.map { level(of: $0) }
      .sorted { $0.size.pixelCount > $1.size.pixelCount }
    return levels.isEmpty ? nil : TIFFTraits(levels: levels, head: TIFFLevel.merged([head] + image.ranges))
  }

  private func level(of candidate: Candidate) -> TIFFLevel {
    let page = candidate.page
    var level = TIFFLevel(
      position: candidate.position, place: candidate.place, size: page.size, blockBytes: page.blockBytes,
      lacksProfile: image.hasProfile && !page.hasProfile)
    if let starts = candidate.starts, let lengths = candidate.lengths, starts.count == lengths.count {
      // Both are below 2^56.
      let blocks = zip(starts, lengths).map { $0..<$0 + $1 }
      let fields = [page.blocks?.starts, page.blocks?.lengths].compactMap { $0 }.filter(\.isOutOfLine)
      level.ranges = TIFFLevel.merged(page.ranges + fields.map { $0.range() } + blocks)
    }
    return level
  }
}
