@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

/// Crops beside what libvips makes of the same files, step by step.
@Suite(.timeLimit(.minutes(5))) struct FramingTests {
  private static let size = PixelSize(317, 203)

  /// What libvips makes of a file: upright, and a part of it.
  private static func reference(_ file: [UInt8], _ operations: (String, String)...) throws -> DecodedPixels {
    var image = try GeometryDifferentialTests.upright(file)
    for (operation, options) in operations { image = try TestPicture.apply(operation, to: image, options) }
    return try DecodedPixels(try TestPicture.apply("cast", to: image, "format=uchar"))
  }

  private static func variant(_ box: PixelSize, _ change: (inout Variant) -> Void) -> Variant {
    var variant = Variant(size: box, fit: .contain, format: .png)
    change(&variant)
    return variant
  }

  @Test(arguments: 1...8) func aPartOfATurnedPictureIsThatPartToThePixel(_ orientation: Int) async throws {
    var picture = GeometryDifferentialTests.picture(3)
    picture.orientation = orientation
    let file = try picture.encoded("tiffsave_buffer")
    let variant = Self.variant(PixelSize(400, 400)) {
      $0.framing.crop = Framing.Crop(x: 31, y: 17, size: PixelSize(120, 101))
    }
    let ours = try await TestRender.pixels(file, variant)
    let theirs = try Self.reference(file, ("extract_area", "left=31,top=17,width=120,height=101"))
    #expect(ours.size == theirs.size && ours.meanDifference(from: theirs) == 0)
  }

  @Test(arguments: ["jpegsave_buffer", "pngsave_buffer", "webpsave_buffer", "tiffsave_buffer"])
  func aReducedPartIsThatOfTheCroppedPicture(_ saver: String) async throws {
    var picture = GeometryDifferentialTests.picture(3).repeated(4)
    for orientation in saver == "jpegsave_buffer" ? [1, 6, 7] : [1] {
      picture.orientation = orientation
      let file = try picture.encoded(
        saver, saver.hasPrefix("jpeg") ? "Q=95" : saver.hasPrefix("webp") ? "lossless" : "")
      for (part, box) in [((101, 73, 600, 500), 300), ((333, 201, 397, 311), 50), ((7, 5, 790, 790), 31)] {
        let variant = Self.variant(PixelSize(box, box)) {
          $0.framing.crop = Framing.Crop(x: part.0, y: part.1, size: PixelSize(part.2, part.3))
        }
        let ours = try await TestRender.pixels(file, variant)
        let (across, down) = (Double(ours.size.width) / Double(part.2), Double(ours.size.height) / Double(part.3))
        let theirs = try Self.reference(
          file, ("extract_area", "left=\(part.0),top=\(part.1),width=\(part.2),height=\(part.3)"),
          ("resize", "scale=\(across),vscale=\(down)"))
        #expect(ours.size.longerSide == box && ours.size == theirs.size)
        let difference = ours.difference(from: theirs, at: 0, 0)
        #expect(difference < 1.5, "\(orientation) \(part): \(difference)")
      }
    }
  }

  @Test func aPartIsCroppedOnceMoreToTheBox() async throws {
    let file = try GeometryDifferentialTests.picture(3).encoded()
    let variant = Self.variant(PixelSize(60, 60)) {
      ($0.fit, $0.framing.focus) = (.cover, Framing.Focus(x: 1, y: 0.1))
      $0.framing.crop = Framing.Crop(PixelSize(200, 102), at: .east)
    }
    let ours = try await TestRender.pixels(file, variant)
    // At 60/102 the 200 columns are 118.
    let theirs = try Self.reference(
      file, ("extract_area", "left=117,top=50,width=200,height=102"), ("resize", "scale=0.59,vscale=0.5882353"),
      ("extract_area", "left=58,top=0,width=60,height=60"))
    #expect(ours.size == theirs.size)
    #expect(ours.difference(from: theirs, at: 0, 0) < 1.5)
  }

  @Test func severalSizesOfDifferentPartsComeFromOneDecode() async throws {
    let file = try GeometryDifferentialTests.picture(3).repeated(2).encoded("jpegsave_buffer")
    let variants = [200, 90, 40].flatMap { side in
      [0, 100].map { x in
        Self.variant(PixelSize(side, side)) {
          $0.framing.crop = Framing.Crop(x: x, y: 0, size: PixelSize(400, 400))
        }
      }
    }
    for rendered in try await TestRender.all(.memory(file), variants) {
      let alone = try await TestRender.one(file, rendered.variant)
      let together = try DecodedPixels(try rendered.result.get().data)
      let difference = together.difference(from: try DecodedPixels(alone.data), at: 0, 0)
      #expect(difference < 3, "\(rendered.variant.token): \(difference)")
    }
  }

  @Test func aCropByContentIsOfTheWholePicture() async throws {
    let picture = TestPicture(400, 300) { x, y in
      (300..<360).contains(x) && (200..<260).contains(y) ? [240, 20, 20] : [120, 120, 120]
    }
    let variant = Self.variant(PixelSize(50, 50)) {
      $0.framing.crop = Framing.Crop(PixelSize(100, 100), at: .attention)
    }
    let pixels = try await TestRender.pixels(try picture.encoded(), variant)
    #expect(pixels.size == PixelSize(50, 50))
    // All of the square is in it, at half its size.
    #expect(pixels.plane(0).count { $0 > 200 } >= 28 * 28)
  }

  @Test func framesAreCroppedAlike() async throws {
    let file = try TestImages.bytes("formats/gif-animated.gif")
    let source = try probe(.memory(Array(file))).size
    let variant = Self.variant(PixelSize(400, 400)) {
      ($0.format, $0.frames) = (.webp, .all)
      $0.framing.crop = Framing.Crop(x: 2, y: 3, size: PixelSize(source.width / 2, source.height / 2))
    }
    let thumbnail = try await TestRender.one(Array(file), variant)
    #expect(thumbnail.size == PixelSize(source.width / 2, source.height / 2))
    let probed = try probe(.memory(Array(thumbnail.data)))
    #expect(probed.size == thumbnail.size && probed.frameCount ?? 0 > 1)
  }

  @Test func aPartThatThePictureLacksIsAnError() async throws {
    let file = try TestPicture(30, 20) { _, _ in TestPicture.green }.encoded()
    for part in [(0, 0, 31, 20), (1, 0, 30, 20), (0, 19, 1, 2)] {
      let variant = Self.variant(PixelSize(9, 9)) {
        $0.framing.crop = Framing.Crop(x: part.0, y: part.1, size: PixelSize(part.2, part.3))
      }
      await #expect(throws: CodecError.cropOutside(of: PixelSize(30, 20))) { try await TestRender.one(file, variant) }
    }
  }

  @Test(arguments: 1...8) func oneTransformationAfterAnotherIsOne(_ first: Int) {
    let size = PixelSize(7, 5)
    let point = PixelRectangle(x: 1, y: 3, size: PixelSize(1, 1))
    for second in 1...8 {
      let both = Orientation(exif: first).then(Orientation(exif: second))
      // The stored pixel of an upright one is found step by step, or at once.
      let between = Orientation(exif: second).stored(size)
      let stored = Orientation(exif: first).stored(between)
      let steps = Orientation(exif: first).stored(Orientation(exif: second).stored(point, in: between), in: stored)
      #expect(both.stored(point, in: stored) == steps, "\(second)")
    }
    #expect(Orientation(quarters: -1) == Orientation(quarters: 3) && Orientation(quarters: 5).exif == 6)
  }
}
