import Glibc
import HEIFContainer
import ThumbnailCore

/// Decodes the tiles of a grid strip by strip, with one decoder on the calling thread and perhaps a second one on a
/// thread of its own.
///
/// Both take one tile after another. The second decoder may be one tile ahead of the strip, while the rows of the strip
/// are used: it copies that tile when the next strip begins. Samples and errors are the same as of one decoder.
final class TileTeam: @unchecked Sendable {
  // Safety: the variables are only accessed with `condition` locked.

  /// The most memory of a tile, in bytes, for two decoders at once: a tile of 5 megapixels.
  static let mostTileBytes = 16 << 20
  /// The stack of the second thread, in bytes.
  private static let stackBytes = 1 << 20

  private let image: HEIFImage
  private let file: HEIFFile
  private let skipsFilters: Bool
  private let strip: StripMemory
  /// The needed strips: the last ones may be outside the visible part.
  private let strips: Int

  private let condition = Condition()
  /// The columns of tiles that are decoded. Tiles are numbered row by row, without the other columns.
  private var columns: Range<Int>
  /// The tile that is taken next.
  private var next = 0
  /// The first tile behind the current strip.
  private var end = 0
  /// The tiles of the current strip that are being decoded.
  private var pending = 0
  /// Whether the second decoder has the first tile behind the strip.
  private var isAhead = false
  /// Changes when strips are requested out of order, so that a tile decoded in advance is dropped.
  private var epoch = 0
  /// The first tile of the strip that cannot be decoded.
  private var failure: (tile: Int, error: CodecError)?
  /// The colour space in the first tile's stream.
  private var firstColour: CodedColour?
  private var isClosed = false
  private var hasSecond = false
  /// Whether no second thread is started.
  private var isAlone: Bool

  init(_ image: HEIFImage, of file: HEIFFile, skipsFilters: Bool, onTwoThreads: Bool) throws(CodecError) {
    (self.image, self.file, self.skipsFilters) = (image, file, skipsFilters)
    strip = try StripMemory(image)
    let lastRow = image.part.y + max(1, image.part.size.height) - 1
    strips = min(image.tiles.count / image.columns, lastRow / image.tileSize.height + 1)
    columns = 0..<image.columns
    isAlone = !onTwoThreads || !image.suitsTwoDecoders
  }

  /// The planes of the current strip.
  var planes: [CodedPlanes.Plane] { strip.planes }

  /// The colour space in the stream of the first tile.
  var colour: CodedColour? { withLock { $0.firstColour } }

  /// Decodes only the tiles of these columns from now on.
  func limit(to columns: Range<Int>) {
    // A tile decoded in advance is dropped, and no tile is taken before the next strip.
    withLock { team in (team.columns, team.epoch, team.next, team.isAhead) = (columns, team.epoch + 1, .max, false) }
  }

  private func withLock<Result>(_ body: (TileTeam) -> Result) -> Result {
    condition.lock()
    defer { condition.unlock() }
    return body(self)
  }

  /// The tiles that are needed.
  private var count: Int { strips * columns.count }

  /// Decodes all tiles of a strip, on the calling thread with `decoder`.
  ///
  /// - Throws: The error of the first tile that cannot be decoded.
  func decodeStrip(_ index: Int, with decoder: any ItemDecoder) throws(CodecError) {
    begin(strip: index)
    startSecond()
    while let tile = takeOfStrip() { finish(tile, decoded(tile, with: decoder)) }
    let failure = withLock { team in
      while team.pending > 0 { team.condition.wait() }
      return team.failure
    }
    if let failure { throw failure.error }
  }

  /// Ends the second thread, and waits until it holds no memory.
  func close() {
    withLock { team in
      team.isClosed = true
      team.condition.broadcast()
      while team.hasSecond { team.condition.wait() }
    }
  }

  private func begin(strip index: Int) {
    withLock { team in
      let first = index * team.columns.count
      let isInOrder = team.failure == nil && team.next == (team.isAhead ? first + 1 : first)
      if !isInOrder { (team.epoch, team.next, team.failure) = (team.epoch + 1, first, nil) }
      team.pending = isInOrder && team.isAhead ? 1 : 0
      (team.end, team.isAhead) = (first + team.columns.count, false)
      team.condition.broadcast()
    }
  }

  /// A tile that was taken: its number, and its place in the image.
  private struct Tile {
    var number: Int
    var row: Int
    var column: Int

    init(_ number: Int, _ columns: Range<Int>) {
      self.number = number
      (row, column) = number.quotientAndRemainder(dividingBy: columns.count)
      column += columns.lowerBound
    }
  }

  /// The next tile of the strip for the calling thread; nil if all are taken, or one has failed.
  private func takeOfStrip() -> Tile? {
    withLock { team in
      guard team.failure == nil, team.next < team.end else { return nil }
      team.next += 1
      team.pending += 1
      return Tile(team.next - 1, team.columns)
    }
  }

  private func decoded(_ tile: Tile, with decoder: any ItemDecoder) -> Result<CodedPlanes, CodecError> {
    Result { () throws(CodecError) in
      let item = image.tiles[tile.row * image.columns + tile.column]
      let coded = try decoder.decode(try file.item(item), of: file)
      try image.check(coded)
      return coded
    }
  }

  /// Copies a tile of the current strip to its place.
  private func finish(_ tile: Tile, _ result: Result<CodedPlanes, CodecError>) {
    if case .success(let coded) = result { strip.copy(coded, toColumn: tile.column) }
    withLock { team in
      switch result {
      case .success(let coded):
        if tile.column == team.columns.lowerBound, team.firstColour == nil { team.firstColour = coded.colour }
      case .failure(let error):
        if team.failure.map({ tile.number < $0.tile }) ?? true { team.failure = (tile.number, error) }
      }
      team.pending -= 1
      team.condition.broadcast()
    }
  }

  // MARK: The second decoder

  private func startSecond() {
    let isWanted = withLock { team in
      guard !team.isAlone, !team.hasSecond, team.next < team.count - 1 else { return false }
      team.hasSecond = true
      return true
    }
    guard isWanted else { return }
    let hasStarted = SystemThread.start(name: "thumbnailer.tile", stackBytes: Self.stackBytes) { [self] in
      help()
      withLock { team in
        team.hasSecond = false
        team.condition.broadcast()
      }
    }
    if !hasStarted { withLock { team in (team.hasSecond, team.isAlone) = (false, true) } }
  }

  /// Decodes tiles until the team is closed. Without memory for this decoder the other one continues alone.
  private func help() {
    guard let decoder = try? image.decoder(skipsFilters: skipsFilters) else {
      withLock { $0.isAlone = true }
      return
    }
    while let (tile, epoch) = takeAhead() {
      let result = decoded(tile, with: decoder)
      let isWanted = withLock { team in
        while !team.isClosed, team.epoch == epoch, tile.number >= team.end { team.condition.wait() }
        return !team.isClosed && team.epoch == epoch
      }
      if isWanted { finish(tile, result) }
    }
  }

  /// Waits for a tile, of the strip or the first one after it; nil when the team is closed.
  private func takeAhead() -> (tile: Tile, epoch: Int)? {
    withLock { team in
      while !team.isClosed {
        let tile = team.next
        if team.failure == nil, tile <= team.end, tile < team.count {
          team.next += 1
          if tile < team.end { team.pending += 1 } else { team.isAhead = true }
          return (Tile(tile, team.columns), team.epoch)
        }
        team.condition.wait()
      }
      return nil
    }
  }
}

extension HEIFImage {
  /// Whether two of its tiles may be decoded at once.
  var suitsTwoDecoders: Bool { tiles.count > 1 && DecodeCost.tile(of: self) <= TileTeam.mostTileBytes }
}
