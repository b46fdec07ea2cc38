@testable import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec

/// Files that break off: nothing beyond what is needed matters, and nothing before may be missing.
@Suite(.timeLimit(.minutes(5))) struct CoefficientDecoderTruncationTests {
  private static let gray = TestJPEG(size: PixelSize(70, 50))

  private static let colour = TestJPEG(size: PixelSize(60, 40), components: TestJPEG.colours(2, 2))

  private static var files: [(name: String, jpeg: TestJPEG)] {
    var restarting = colour
    restarting.restartInterval = 2
    var separate = colour
    separate.scans = (0..<3).map { TestJPEG.Scan(components: [$0]) }
    var progressive = colour
    progressive.isProgressive = true
    progressive.scans =
      (0..<3).map { TestJPEG.Scan(components: [$0], positions: 0...0) }
      + (0..<3).map { TestJPEG.Scan(components: [$0], positions: $0 == 0 ? 1...5 : 1...63) }
      + [TestJPEG.Scan(components: [0], positions: 6...24), TestJPEG.Scan(components: [0], positions: 25...63)]
    return [
      ("gray", gray), ("restarting", restarting), ("separate", separate), ("progressive", progressive),
    ]
  }

  @Test(arguments: files.indices) func aBodyIsEnoughFromTheByteThatTheReaderNames(_ index: Int) throws {
    let (name, jpeg) = Self.files[index]
    let file = jpeg.bytes()
    for scale in JPEGScale.reduced {
      let whole = try TestJPEG.read(file, scale)
      #expect(jpeg.isProgressive == (whole.consumedBytes < file.count), "\(name)")
      for length in 2..<file.count {
        let part = Array(file.prefix(length))
        do {
          let image = try TestJPEG.read(part, scale, size: jpeg.size)
          // The marker behind the last block, of two bytes, need not be there; the block's last bits must.
          #expect(length >= whole.consumedBytes - 2, "\(name) of \(length) bytes")
          #expect(try Samples(image.raster) == Samples(whole.raster), "\(name) of \(length) bytes")
        } catch CodecError.truncated {
          #expect(length < whole.consumedBytes, "\(name) of \(length) bytes")
        }
      }
    }
  }

  @Test(arguments: files.indices) func whatLiesBeyondDoesNotMatter(_ index: Int) throws {
    let (name, jpeg) = Self.files[index]
    let file = jpeg.bytes()
    for scale in JPEGScale.reduced {
      let whole = try TestJPEG.read(file, scale)
      for garbage: [UInt8] in [[0xFF, 0xFF, 0xFF], [0, 0, 0], Array(0...255)] {
        let image = try TestJPEG.read(file.prefix(whole.consumedBytes) + garbage, scale, size: jpeg.size)
        #expect(try Samples(image.raster) == Samples(whole.raster), "\(name)")
        #expect(image.consumedBytes == whole.consumedBytes)
      }
    }
  }

  @Test(arguments: files.indices) func theTolerantOptionGivesWhatThereIs(_ index: Int) throws {
    let (name, jpeg) = Self.files[index]
    let file = jpeg.bytes()
    for scale in JPEGScale.reduced {
      let whole = try Samples(TestJPEG.read(file, scale).raster)
      var best = 0
      for length in 2..<file.count {
        do {
          let image = try TestJPEG.read(Array(file.prefix(length)), scale, size: jpeg.size, isTolerant: true)
          #expect(image.raster.size == whole.size && image.raster.bands == whole.bands)
          let samples = try Samples(image.raster)
          let same = zip(samples.bytes, whole.bytes).prefix { $0 == $1 }.count
          best = max(best, same)
        } catch CodecError.truncated {
          #expect(best == 0, "\(name) of \(length) bytes: there were rows before")
        }
      }
      #expect(best == whole.bytes.count)
    }
  }

  @Test(arguments: [false, true]) func aHugePictureInAFewBytesIsTruncatedAtOnce(_ isProgressive: Bool) throws {
    var jpeg = Self.gray
    jpeg.isProgressive = isProgressive
    if isProgressive {
      jpeg.scans = [
        TestJPEG.Scan(components: [0], positions: 1...63), TestJPEG.Scan(components: [0], positions: 0...0),
      ]
    }
    var file = jpeg.bytes()
    let frame = try #require(file.indices.first { file[$0] == 0xFF && [0xC0, 0xC2].contains(file[$0 + 1]) })
    file.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
    for scale in JPEGScale.reduced {
      let error = #expect(throws: CodecError.self) { try TestJPEG.read(file, scale, size: PixelSize(65500, 65500)) }
      #expect(["truncated", "damaged"].contains(error?.kind))
    }
  }
}
