@testable import RAWPreviews

/// The walk through RAW containers: it ends, reads little, and finds the same whatever the reads bring.
func fuzzRAW(_ input: FuzzInput) {
  let bytes = input.bytes
  var reads = 0
  var (reader, file) = (RAWReader(), nil as RAWFile?)
  walk: while true {
    switch reader.next() {
    case .found(let found):
      file = found
      break walk
    case .notRAW: break walk
    case .read(let range):
      reads += 1
      reader.add(Array(bytes[range.clamped(to: 0..<bytes.count)]), of: range)
    }
  }
  require(reads <= RAWReader.mostReads, "\(reads) reads")
  for image in file?.images ?? [] {
    require(image.range.lowerBound > 0 && image.range.count > 0, "\(image)")
    require((0...0xFFFF).contains(image.width) && (0...0xFFFF).contains(image.height), "\(image)")
    if image.encoding == .jpeg { require(image.width > 0 && image.height > 0, "\(image)") }
    if let part = image.visible {
      require(part.x >= 0 && part.y >= 0 && part.width > 0 && part.height > 0, "\(image)")
      require(part.x + part.width <= image.width && part.y + part.height <= image.height, "\(image)")
    }
  }
  var known = KnownBytes()
  known.add(bytes, of: 0..<bytes.count + 1)
  switch RAWReader(known).next() {
  case .read(let range): failFuzzing("\(range) is asked for, and everything is there")
  case .notRAW: require(file == nil, "not RAW at once, but in pieces \(String(describing: file))")
  case .found(let whole): require(file == whole, "at once \(whole), in pieces \(String(describing: file))")
  }
}
