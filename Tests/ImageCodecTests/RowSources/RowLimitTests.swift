@testable import CodecTestSupport
@testable import ImageCodec
@testable import ThumbnailCore

/// Parts of images of which no more is decoded than they show.
@Suite(.timeLimit(.minutes(5))) struct RowLimitTests {
  private static let size = PixelSize(320, 256)
  private static let picture = TestPicture.texture(size.width, size.height)

  /// A format; whether what is above a part is left out; and where its file is damaged, from 0 to 1.
  struct Kind: Sendable, CustomStringConvertible {
    var description: String
    var file: @Sendable () throws -> [UInt8]
    var rows: @Sendable (ByteSource) throws -> any RowSource
    var skips = true
    var damage = 0.5
    /// The rows in which its reader notices that.
    var noticed: Range<Int>?

    static func saved(
      _ saver: String, _ options: String = "", skips: Bool = true, damage: Double = 0.5, noticed: Range<Int>? = nil
    ) -> Kind {
      Kind(
        description: "\(saver) \(options)", file: { try picture.encoded(saver, options) },
        rows: { body in
          switch try ImageCodec.probe(body) {
          case let probe where probe.format == .tiff: try TIFFRowSource(body, probe: probe)
          case let probe where probe.format == .png: try PNGRowSource(body, probe: probe)
          case let probe: try GIFRowSource(body, probe: probe)
          }
        }, skips: skips, damage: damage, noticed: noticed)
    }
  }

  static let kinds: [Kind] = [
    .saved("tiffsave_buffer", "compression=deflate,tile-height=16", noticed: 96..<160),
    .saved("tiffsave_buffer", "compression=deflate,tile-height=256", skips: false),
    .saved("tiffsave_buffer", "compression=deflate,tile=true,tile-width=64,tile-height=64", noticed: 96..<160),
    .saved("pngsave_buffer", skips: false, damage: 0.9, noticed: 200..<256),
    Kind(
      description: "HEIC", file: { try TileFile(side: 64).bytes(picture) },
      rows: { body in
        let traits = try #require(try ImageCodec.probe(body).heif)
        return try HEIFRowSource(body, traits, convertsColours: true, onTwoThreads: true)
      }, noticed: 96..<160),
  ]

  private static func samples(_ source: any RowSource, _ part: PixelRectangle, to target: PixelSize) throws -> Samples {
    let whole = PixelRectangle(x: 0, y: 0, size: size)
    var view = ViewRenderer.View(size: target, part: PixelRectangle(x: 0, y: 0, size: target))
    view.region = ImageShare(of: part, in: size, of: whole, in: size)
    let made = try ViewRenderer(source.layout, views: [view]).render(source, cancellation: CancellationFlag())
    return try Samples(try #require(made.first))
  }

  /// The same source without what it leaves out.
  private final class Unlimited: RowSource {
    let source: any RowSource
    var layout: RowLayout { source.layout }
    init(_ source: any RowSource) { self.source = source }
    func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool { try source.read(receive) }
  }

  @Test(arguments: kinds) func aPartHasTheSamplesOfTheWhole(_ kind: Kind) throws {
    let body = ByteSource.memory(try kind.file())
    for (x, y) in [(0, 0), (63, 64), (64, 63), (65, 129), (256, 192), (130, 16)] {
      let part = PixelRectangle(x: x, y: y, size: PixelSize(64, 64))
      for target in [PixelSize(64, 64), PixelSize(21, 30), PixelSize(5, 4)] {
        let limited = try Self.samples(try kind.rows(body), part, to: target)
        let whole = try Self.samples(Unlimited(try kind.rows(body)), part, to: target)
        #expect(limited == whole, "\(x),\(y) \(target)")
      }
    }
  }

  /// What lies in the middle of the file is in the middle of the image.
  @Test(arguments: kinds) func damageBesideAPartGoesUnnoticed(_ kind: Kind) throws {
    var file = try kind.file()
    let start = Int(kind.damage * Double(file.count))
    for place in start..<start + 40 { file[place] ^= 0x5A }
    let body = ByteSource.memory(file)
    func read(_ rows: Range<Int>) throws {
      let part = PixelRectangle(columns: 0..<Self.size.width, rows: rows)
      _ = try Self.samples(try kind.rows(body), part, to: part.size)
    }
    try read(8..<40)
    if kind.skips { try read(216..<248) }
    if let rows = kind.noticed { #expect(throws: CodecError.self) { try read(rows) } }
  }
}
