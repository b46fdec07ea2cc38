@testable import CodecTestSupport
@testable import ImageCodec

@Suite(.timeLimit(.minutes(5))) struct GIFAnimationTests {
  /// Frames of noise anywhere in the picture, with every disposal, some with a transparent colour, some interlaced.
  private static func animation(seed: UInt64, isOpaque: Bool = false) -> GIFWriter {
    var random = SplitMix(state: seed)
    let (width, height) = (Int.random(in: 1...40, using: &random), Int.random(in: 1...30, using: &random))
    let frames = (0..<6).map { number in
      let across = Int.random(in: 1...width, using: &random)
      let down = Int.random(in: 1...height, using: &random)
      var frame = GIFRowSourceTests.frame(across, down, codeSize: 4, detail: 40, seed: seed * 10 + UInt64(number))
      frame.left = Int.random(in: 0...width - across, using: &random)
      frame.top = Int.random(in: 0...height - down, using: &random)
      frame.disposal = UInt8.random(in: 0...4, using: &random)
      frame.isInterlaced = Bool.random(using: &random)
      if !isOpaque, Bool.random(using: &random) { frame.transparent = UInt8.random(in: 0...15, using: &random) }
      if Bool.random(using: &random) { frame.palette = GIFRowSourceTests.palette(16, seed: seed + 99) }
      return frame
    }
    return GIFWriter(width: width, height: height, palette: GIFRowSourceTests.palette(16, seed: seed), frames: frames)
  }

  /// What GIF89a says is seen of each frame, a frame at a time: the pixels with alpha.
  private static func seen(_ file: GIFWriter) -> [[UInt8]] {
    var canvas = [UInt8](repeating: 0, count: file.width * file.height * 4)
    return file.frames.map { frame in
      let before = canvas
      let palette = frame.palette ?? file.palette ?? []
      func each(_ change: (_ place: Int, _ index: UInt8) -> Void) {
        for y in 0..<frame.height {
          for x in 0..<frame.width {
            change(((frame.top + y) * file.width + frame.left + x) * 4, frame.indices[y * frame.width + x])
          }
        }
      }
      each { place, index in
        guard index != frame.transparent else { return }
        canvas[place..<place + 3] = palette[3 * Int(index)..<3 * Int(index) + 3]
        canvas[place + 3] = 255
      }
      let shown = canvas
      switch frame.disposal {
      case 2: each { place, _ in canvas.replaceSubrange(place..<place + 4, with: [0, 0, 0, 0]) }
      case 3, 4: canvas = before
      default: break
      }
      return shown
    }
  }

  @Test func everyFrameIsSeenAsTheStandardSays() throws {
    for seed in 1...60 as ClosedRange<UInt64> {
      let file = Self.animation(seed: seed)
      var frames = try GIFAnimation(.memory(file.file), size: PixelSize(file.width, file.height))
      for (number, expected) in Self.seen(file).enumerated() {
        #expect(try frames.frame().bytes == expected, "\(seed), frame \(number)")
      }
      #expect(throws: CodecError.self) { try frames.frame() }
    }
  }

  @Test func whatNoFrameOfAnAnimationCoversIsTransparent() async throws {
    try Codec.start()
    guard Codec.canWrite(.webp) else { return }
    let frames = [(5, 5), (20, 10)].map { left, top in
      var frame = GIFRowSourceTests.frame(10, 10, codeSize: 4)
      (frame.left, frame.top) = (left, top)
      return frame
    }
    let file = GIFWriter(width: 40, height: 30, palette: GIFRowSourceTests.palette(16), frames: frames).file
    let thumbnail = try await TestRender.one(
      file, Variant(size: PixelSize(40, 30), fit: .contain, format: .webp, frames: .all))
    let made = try BodyReader(.memory(Array(thumbnail.data)), cancellation: CancellationFlag())
      .load(.webp, VIPS_FAIL_ON_ERROR, option: .allFrames)
    let pixels = try Raster(computing: made).bytes
    try #require(pixels.count == 40 * 60 * 4)
    let places: [(x: Int, y: Int, alpha: UInt8)] = [
      (0, 0, 0), (39, 29, 0), (10, 10, 255), (25, 15, 0), (0, 30, 0), (10, 40, 255), (25, 45, 255), (39, 59, 0),
    ]
    for (x, y, alpha) in places { #expect(pixels[(y * 40 + x) * 4 + 3] == alpha, "\(x), \(y)") }
  }
}
