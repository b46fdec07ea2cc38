import ThumbnailCore

/// The rows of a source in sRGB. What is averaged, and in which light, follows.
final class ToneMappedRows: RowSource {
  let layout: RowLayout
  private let source: any RowSource
  private let map: ToneMap
  private let row: UnsafeMutableRawBufferPointer

  /// - Parameter source: One of interleaved samples.
  init(_ source: any RowSource, _ range: CodedLight) {
    var rows = source.layout
    (rows.storedProfile, rows.codedLight) = (nil, nil)
    (layout, self.source) = (rows, source)
    map = ToneMap(range, isWide: rows.sample == .uint16)
    row = .allocate(byteCount: rows.planes[0].size.width * rows.planes[0].channels * rows.sampleBytes, alignment: 16)
  }

  deinit { row.deallocate() }

  func limit(to windows: [PixelRectangle]) { source.limit(to: windows) }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    try source.read { band throws(CodecError) in
      guard !band.isBlank, let start = row.baseAddress else { return try receive(band) }
      for index in 0..<band.count {
        start.copyMemory(from: band.start + index * band.stride, byteCount: row.count)
        map.convert(start, count: layout.planes[0].size.width, channels: layout.planes[0].channels)
        try receive(RowBand(start: UnsafeRawPointer(start), stride: 0, count: 1))
      }
    }
  }
}
