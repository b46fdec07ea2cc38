@testable import ImageCodec
@testable import ThumbnailCore

/// The GIF decoder: its rows do not depend on where the body lies, are all there or none, and stay within their number.
func fuzzGIF(_ input: FuzzInput) {
  guard let probe = try? probe(.memory(input.bytes), limits: .fuzzing), probe.format == .gif else { return }
  let whole = gifRows(.memory(input.bytes), probe)
  let inFile = gifRows(input.asFile(), probe)
  require(whole == inFile, "in memory \(whole), in a file \(inFile)")
}

/// The number of rows of a GIF and the checksum of their bytes.
private func gifRows(_ body: ByteSource, _ probe: ImageProbe) -> Result<[Int], CodecError> {
  Result { () throws(CodecError) in
    let source = try GIFRowSource(body, probe: probe)
    let plane = source.layout.planes[0]
    require(plane.size == probe.storedSize, "\(plane.size) was probed as \(probe.storedSize)")
    var (rows, checksum) = (0, 0)
    while try source.read({ band in
      rows += band.count
      let bytes = UnsafeRawBufferPointer(start: band.start, count: band.count * band.stride)
      for byte in bytes { checksum = checksum &* 31 &+ Int(byte) }
    }) {}
    require(rows == plane.size.height, "\(rows) rows of \(plane.size)")
    return [rows, checksum]
  }
}
