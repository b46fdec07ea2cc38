import CVips

@testable import ImageCodec
@testable import ThumbnailCore

/// The PNG decoder: its rows do not depend on where the body lies, are never more than the header says, and are those
/// of libvips if both read the file.
///
/// The chunks' CRCs are put right first, else hardly any input would get to the pixels.
func fuzzPNG(_ input: FuzzInput) {
  let file = FuzzInput(bytes: withValidCRCs(input.bytes))
  guard let probe = try? probe(.memory(file.bytes), limits: .fuzzing), probe.format == .png else { return }
  let ours = DecodedPNG(.memory(file.bytes), probe)
  let inFile = DecodedPNG(file.asFile(), probe)
  require(inFile == ours, "in memory \(ours), in a file \(inFile)")
  require(ours.rows <= probe.storedSize.height, "\(ours)")
  guard ours.error == nil else { return }
  require(ours.rows == probe.storedSize.height, "\(ours)")
  if let (bands, pixels) = libvipsPixels(file.bytes) {
    require(bands == ours.channels && pixels == ours.bytes, "libvips reads other pixels than \(ours)")
  }
}

/// The file with the CRC of each whole chunk.
private func withValidCRCs(_ bytes: [UInt8]) -> [UInt8] {
  var (file, position) = (bytes, 8)
  while position + 12 <= file.count {
    let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
    let end = position + 8 + length
    guard end + 4 <= file.count else { break }
    let crc = file[position + 4..<end].withUnsafeBytes { PNGChunkReader.crc(0, $0) }
    for index in 0..<4 { file[end + index] = UInt8(truncatingIfNeeded: crc >> UInt32(24 - 8 * index)) }
    position = end + 4
  }
  return file
}

/// What became of a file.
private struct DecodedPNG: Equatable, CustomStringConvertible {
  var channels = 0
  var rows = 0
  var bytes: [UInt8] = []
  var error: CodecError?

  init(_ body: ByteSource, _ probe: ImageProbe) {
    do throws(CodecError) {
      let source = try PNGRowSource(body, probe: probe)
      let layout = source.layout
      channels = layout.planes[0].channels
      let length = layout.planes[0].size.width * channels * (layout.sample == .uint16 ? 2 : 1)
      while try source.read({ band in
        rows += band.count
        for row in 0..<band.count {
          bytes += UnsafeRawBufferPointer(start: band.start + row * band.stride, count: length)
        }
      }) {}
    } catch {
      self.error = error
    }
  }

  var description: String { "\(rows) rows of \(channels) channels, \(error.map { "\($0)" } ?? "whole")" }
}

private func libvipsPixels(_ file: [UInt8]) -> (bands: Int, pixels: [UInt8])? {
  guard (try? Codec.start()) != nil,
    let image = try? BodyReader(.memory(file), cancellation: CancellationFlag()).load(.png, VIPS_FAIL_ON_ERROR)
  else { return nil }
  var length = 0
  guard let memory = vips_image_write_to_memory(image.pointer, &length) else { return nil }
  defer { g_free(memory) }
  return (image.bands, Array(UnsafeRawBufferPointer(start: memory, count: length)))
}
