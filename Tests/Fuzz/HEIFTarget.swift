@testable import HEIFContainer

/// The container of HEIC and AVIF: what it says of an image is consistent, and every place is within the file.
func fuzzHEIF(_ input: FuzzInput) {
  let file = input.bytes
  guard let meta = metaContent(of: file), let items = try? HEIFItems(meta: Array(file[meta]), at: meta.lowerBound)
  else { return }
  let related = items.items("thmb", to: items.primary) + items.items("auxl", to: items.primary)
  for id in [items.primary] + related.map(\.id) {
    let ranges = (try? items.item(id)?.ranges(inFileOf: file.count)) ?? []
    for range in ranges { require(range.upperBound <= file.count, "\(range) of \(file.count) bytes") }
    guard let image = try? items.image(id, grid: ranges.first.map { Array(file[$0]) }) else { continue }
    require(image.tiles.count == image.rows * image.columns, "\(image.tiles.count) tiles in \(image.columns) columns")
    require(image.tileSize.width * image.columns >= image.size.width, "tiles of \(image.tileSize) in \(image.size)")
    require(image.part.x >= 0 && image.part.x + image.part.size.width <= image.size.width, "\(image.part)")
    require(image.part.y >= 0 && image.part.y + image.part.size.height <= image.size.height, "\(image.part)")
    for tile in image.tiles.compactMap(items.item) {
      for range in (try? tile.ranges(inFileOf: file.count)) ?? [] {
        _ = file[range].withUnsafeBytes { try? tile.hevc?.units(in: $0) }
      }
    }
  }
}

/// Where the content of the first box `meta` is.
private func metaContent(of file: [UInt8]) -> Range<Int>? {
  var position = 0
  while position < file.count, let header = try? BoxHeader(file[position...]) {
    let end = min(file.count, position + min(header.length ?? file.count, file.count))
    if header.kind == "meta" { return min(end, position + header.headerLength)..<end }
    position = end
  }
  return nil
}
