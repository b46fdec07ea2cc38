import Reference

@testable import ImageCodec
@testable import JPEGCoefficients
@testable import ThumbnailCore

/// The JPEG coefficient decoder: its picture depends neither on where the body lies nor on how much of it is read at a
/// time, nor on whether lanes decode it; a tolerant reading of a sound file is the same, measuring deviations changes no sequential one, and where no
/// chroma is scaled it is libjpeg's.
func fuzzReader(_ input: FuzzInput) {
  guard let probe = try? probe(.memory(input.bytes), limits: .fuzzing), probe.format == .jpeg else { return }
  readRows(input, probe)
  for scale in JPEGScale.reduced {
    func picture(
      _ body: ByteSource, window: Int? = nil, isTolerant: Bool = false, lanes: LaneSchedule.Sizes? = nil
    ) -> ReadPicture {
      var decoder = CoefficientDecoder(
        body, size: probe.storedSize, scale: scale, isTolerant: isTolerant, cancellation: CancellationFlag(),
        window: window)
      decoder.lanes = lanes
      return ReadPicture(decoder)
    }
    let whole = picture(.memory(input.bytes))
    readInLanes(input, whole) { picture($0, isTolerant: false, lanes: $1) }
    let window = 2 + input.cut(0) * (1 + input.cut(1) & 7)
    let inPieces = picture(.memory(input.bytes), window: window)
    require(inPieces == whole, "at \(scale) \(whole), by \(window) bytes \(inPieces)")
    let inFile = picture(input.asFile(), window: input.cut(2) & 1 == 0 ? window : nil)
    require(inFile == whole, "at \(scale) \(whole), in a file \(inFile)")
    let tolerant = picture(.memory(input.bytes), isTolerant: true)
    readInLanes(input, tolerant) { picture($0, isTolerant: true, lanes: $1) }
    guard case .success = whole.result else { continue }
    require(tolerant == whole, "at \(scale) \(whole), tolerant \(tolerant)")
    if scale == .eighth { whole.compareWithLibjpeg(input.bytes, isProgressive: probe.isProgressive) }
  }
}

/// Lanes with parts of a few bytes make the same of a body as decoding its blocks one after the other.
private func readInLanes(
  _ input: FuzzInput, _ serial: ReadPicture, _ picture: (ByteSource, LaneSchedule.Sizes) -> ReadPicture
) {
  var sizes = LaneSchedule.Sizes()
  sizes.leastScan = 1
  sizes.shortestPart = 16 << (input.cut(3) & 3)
  sizes.longestPart = sizes.shortestPart << (input.cut(4) & 3)
  sizes.room = input.cut(5) & 1 == 0 ? 32 : 1 << 10
  sizes.overlap = input.cut(6) & 63
  sizes.leastInterval = 1
  for body in [.memory(input.bytes), input.asFile()] {
    let inLanes = picture(body, sizes)
    require(inLanes == serial, "\(serial), in lanes of \(sizes) \(inLanes)")
  }
}

/// A file at full size: the same rows from memory as from a file.
private func readRows(_ input: FuzzInput, _ probe: ImageProbe) {
  guard probe.jpeg?.isReadByRows(at: .full) == true else { return }
  func samples(_ body: ByteSource) -> Result<[UInt8], CodecError> {
    let decoder = CoefficientDecoder(body, size: probe.storedSize, scale: .full, cancellation: CancellationFlag())
    return Result { () throws(CodecError) in
      var samples: [UInt8] = []
      try decoder.survey().read { _, start, stride, count in
        samples += UnsafeBufferPointer(start: start, count: stride * count)
        return true
      }
      return samples
    }
  }
  let (whole, inFile) = (samples(.memory(input.bytes)), samples(input.asFile()))
  require(whole == inFile, "rows of \(probe.storedSize) in a file")
}

/// What the reader made of a body.
struct ReadPicture: Equatable, CustomStringConvertible {
  struct Pixels: Equatable {
    let size: PixelSize
    let bands: Int
    let samples: [UInt8]
  }

  let result: Result<Pixels, CodecError>

  init(_ decoder: CoefficientDecoder) {
    result = Result { () throws(CodecError) in
      let raster = try Raster(decoder)
      let samples = raster.withBytes { Array($0) }
      return Pixels(size: raster.size, bands: raster.bands, samples: samples)
    }
  }

  var description: String {
    switch result {
    case .success(let pixels):
      "\(pixels.size) of \(pixels.bands) bands, checksum \(pixels.samples.reduce(0) { $0 &* 31 &+ Int($1) })"
    case .failure(let error): "\(error)"
    }
  }

  /// Holds a sequential picture against libjpeg's, where libjpeg finds nothing to warn of.
  func compareWithLibjpeg(_ file: [UInt8], isProgressive: Bool) {
    guard case .success(let pixels) = result, !isProgressive else { return }
    var expected = [UInt8](repeating: 0, count: pixels.samples.count)
    var picture = reference_picture()
    guard reference_decode(file, file.count, &expected, expected.count, &picture) == 0, picture.warnings == 0,
      picture.is_unsampled == 1
    else { return }
    let size = PixelSize(Int(picture.width), Int(picture.height))
    require(size == pixels.size && picture.components == pixels.bands, "\(self), libjpeg \(size)")
    if let index = expected.indices.first(where: { expected[$0] != pixels.samples[$0] }) {
      failFuzzing("sample \(index) of \(self) is \(pixels.samples[index]), with libjpeg \(expected[index])")
    }
  }
}
