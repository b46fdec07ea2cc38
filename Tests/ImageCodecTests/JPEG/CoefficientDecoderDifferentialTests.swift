@testable import JPEGCoefficients

@testable import CodecTestSupport
@testable import ImageCodec

/// The reader against libvips, that is libjpeg, on files of many encoders.
@Suite(.timeLimit(.minutes(5))) struct CoefficientDecoderDifferentialTests {
  private static let formats = TestImages.url("formats")
  private static let broken = TestImages.url("broken")
  private static let corpus = SharedCorpus.root

  private static func files(under folder: URL) -> [(name: String, bytes: [UInt8])] {
    folder.files(beginningWith: [0xFF, 0xD8, 0xFF])
  }

  /// The file with its components taken for red, green and blue, so that they come as they are.
  private static func unconverted(_ file: [UInt8]) -> [UInt8] {
    var copy = Array(file[..<2]) + TestJPEG.adobeRGB
    var position = 2
    while position + 4 <= file.count, file[position] == 0xFF, file[position + 1] != 0xDA {
      let end = position + 2 + Int(file[position + 2]) << 8 + Int(file[position + 3])
      if end <= file.count && file[position + 1] != 0xE0 && file[position + 1] != 0xEE { copy += file[position..<end] }
      position = end
    }
    return copy + file[min(position, file.count)...]
  }

  /// What became of a file: read, or handed over.
  @discardableResult
  private func compare(_ name: String, _ file: [UInt8]) throws -> Bool {
    guard let probe = try? probe(.memory(file)), let traits = probe.jpeg, traits.obstacle == nil else { return false }
    guard min(probe.storedSize.width, probe.storedSize.height) >= 8 else {
      // libvips ends the process where nothing is left of a side.
      _ = try TestJPEG.read(file, .eighth)
      return true
    }
    let theirs: Samples
    do { theirs = try Samples(file, shrink: 8) } catch { return false }
    let image: TestJPEG.Reading
    do { image = try TestJPEG.read(file, .eighth) } catch CodecError.handedOver { return false }
    let ours = try Samples(image.raster)
    #expect(ours.bands == theirs.bands, "\(name)")
    #expect(ours.size == JPEGScale.eighth.size(of: probe.storedSize), "\(name)")
    if theirs.bands == 1 && !probe.isProgressive {
      #expect(ours.cropped(to: theirs.size) == theirs, "\(name)")
    }
    if theirs.bands == 3 && !probe.isProgressive {
      // Luma is exact; libjpeg takes more of the coefficients of chroma that has half its samples.
      let plain = Self.unconverted(file)
      let (mine, reference) = try (Samples(TestJPEG.read(plain, .eighth).raster), Samples(plain, shrink: 8))
      let cropped = mine.cropped(to: reference.size)
      let isExact = stride(from: 0, to: reference.bytes.count, by: 3).allSatisfy {
        cropped.bytes[$0] == reference.bytes[$0]
      }
      #expect(isExact, "\(name)")
      if probe.samplesPerPixel == 3 { #expect(ours.cropped(to: theirs.size) == theirs, "\(name)") }
    }
    // Of quality 0: a quantiser of 255 makes a missing bit 32 levels.
    if name.hasSuffix("progressive/test.jpg") { return true }
    if probe.isProgressive {
      // The last bits of the coefficients are missing.
      let difference = ours.cropped(to: theirs.size).difference(from: theirs)
      #expect(difference.mean < 2.5, "\(name): \(difference)")
    }
    // libjpeg makes its 1/4 and 1/2 of other coefficients, so the likeness is one of pictures, not of samples.
    for (scale, most) in [(JPEGScale.quarter, 8.0), (.half, 12)] {
      let ours = try Samples(TestJPEG.read(file, scale).raster)
      let theirs = try Samples(file, shrink: scale.rawValue)
      #expect(ours.size == scale.size(of: probe.storedSize), "\(name)")
      // Of a few pixels the edges are too large a part.
      if min(ours.size.width, ours.size.height) < 16 { continue }
      let difference = ours.cropped(to: theirs.size).difference(from: theirs)
      #expect(difference.mean < most, "\(name) at \(scale): \(difference)")
    }
    return true
  }

  @Test func theProjectsPicturesAreAsLibjpegReadsThem() throws {
    var read: [String] = []
    for (name, file) in Self.files(under: Self.formats) where try compare(name, file) { read.append(name) }
    #expect(read.count > 30)
    for name in [
      "jpeg-411.jpg", "jpeg-440.jpg", "jpeg-rgb.jpg", "jpeg-gray-progressive.jpg", "jpeg-restart-progressive.jpg",
      "jpeg-not-interleaved.jpg", "jpeg-progressive-separate-dc.jpg", "size-65500x1-progressive.jpg", "size-1x1.jpg",
    ] { #expect(read.contains(name), "\(name)") }
  }

  @Test func profilesAreFound() throws {
    for (name, file) in Self.files(under: Self.formats) where name.hasPrefix("icc-") {
      let image = try TestJPEG.read(file, .eighth)
      #expect(image.raster.profile?.count ?? 0 > 100, "\(name)")
    }
  }

  @Test func brokenPicturesAreErrorsOrWholeAsFarAsTheyAreRead() throws {
    for (name, file) in Self.files(under: Self.broken) {
      // What cannot be probed is never planned.
      guard let probe = try? probe(.memory(file)) else { continue }
      for scale in JPEGScale.reduced {
        for isTolerant in [false, true] {
          do {
            let image = try TestJPEG.read(file, scale, size: probe.storedSize, isTolerant: isTolerant)
            let isWhole = ["flipped-bits", "scans", "truncated-progressive-", "truncated-by-its-end-marker"].contains {
              name.hasPrefix($0) && !name.hasPrefix("truncated-progressive-in-the-first-scan")
            }
            #expect(isWhole || isTolerant, "\(name) was read")
            #expect(image.raster.size == scale.size(of: probe.storedSize))
          } catch CodecError.truncated {
            #expect(name.hasPrefix("truncated") || name.hasPrefix("claims"), "\(name)")
          } catch CodecError.damaged, CodecError.handedOver {
            #expect(!name.hasPrefix("truncated"), "\(name)")
          } catch CodecError.limitExceeded {
            #expect(name.hasPrefix("scans"), "\(name)")
          }
        }
      }
    }
  }

  @Test(.withTheCorpus)
  func theCorpusIsReadAsLibjpegReadsIt() throws {
    var count = 0
    for (name, file) in Self.files(under: Self.corpus.appending(path: "good")) where try compare(name, file) {
      count += 1
    }
    #expect(count >= 35)
  }

  @Test(.withTheCorpus)
  func badFilesNeitherCrashNorPassWhereLibjpegRefuses() throws {
    for (name, file) in Self.files(under: Self.corpus.appending(path: "bad")) {
      // As if every header had been believed.
      guard let size = (try? probe(.memory(file)))?.storedSize, size.pixelCount < 100_000_000 else { continue }
      for scale in JPEGScale.reduced {
        for isTolerant in [false, true] {
          do {
            _ = try TestJPEG.read(file, scale, size: size, isTolerant: isTolerant)
            let libjpegReadsIt = (try? Samples(file, shrink: 1)) != nil
            #expect(isTolerant || libjpegReadsIt, "\(name)")
          } catch is CodecError {
            // Refused for a reason.
          }
        }
      }
    }
  }

  @Test func mutatedFilesGiveTheSameThroughAnyWindow() throws {
    var jpeg = TestJPEG(size: PixelSize(60, 44), components: TestJPEG.colours(2, 1))
    var random = SplitMix(state: 11)
    func outcome(_ file: [UInt8], _ scale: JPEGScale, _ isTolerant: Bool, window: Int?) -> Result<Samples, CodecError> {
      Result { () throws(CodecError) in
        let image = try TestJPEG.Reading(
          CoefficientDecoder(
            ByteSource.memory(file), size: jpeg.size, scale: scale, isTolerant: isTolerant,
            cancellation: CancellationFlag(),
            window: window))
        return Samples(size: image.raster.size, bands: image.raster.bands, bytes: image.raster.bytes)
      }
    }
    for round in Thoroughness.rounds(400) {
      jpeg.isProgressive = round % 2 == 0
      jpeg.restartInterval = round % 3
      jpeg.scans =
        jpeg.isProgressive
        ? [TestJPEG.Scan(components: [0, 1, 2], positions: 0...0)]
          + (0..<3).map { TestJPEG.Scan(components: [$0], positions: 1...63) } : []
      var file = jpeg.bytes()
      random.damage(&file, places: 4)
      if round % 5 == 0 { file.removeLast(random.below(file.count)) }
      for scale in JPEGScale.reduced {
        let whole = outcome(file, scale, round % 4 == 0, window: nil)
        #expect(outcome(file, scale, round % 4 == 0, window: [2, 64, 600][round % 3]) == whole)
      }
    }
  }
}
