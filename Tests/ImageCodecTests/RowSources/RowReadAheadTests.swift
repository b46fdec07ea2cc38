@testable import CodecTestSupport
@testable import ImageCodec
import JPEGCoefficients
@testable import ThumbnailCore

/// Rows that are read ahead on another thread.
@Suite(.timeLimit(.minutes(2)))
struct RowReadAheadTests {
  private static let picture = TestPicture.texture(700, 900)

  private static let files: [(saver: String, options: String)] = [
    ("pngsave_buffer", ""), ("pngsave_buffer", "interlace=true"), ("jpegsave_buffer", "Q=80"),
    ("jpegsave_buffer", "Q=80,interlace=true"), ("tiffsave_buffer", "compression=deflate,tile-height=16"),
  ]

  private static func source(_ body: ByteSource) throws(CodecError) -> any RowSource {
    let probe = try ImageCodec.probe(body)
    switch probe.format {
    case .png: return try PNGRowSource(body, probe: probe)
    case .tiff: return try TIFFRowSource(body, probe: probe)
    default:
      let flag = CancellationFlag()
      if probe.isProgressive {
        return try JPEGStripSource(
          CoefficientDecoder(body, size: probe.storedSize, scale: .full, cancellation: flag))
      }
      return try JPEGRowSource(
        BodyReader(body, cancellation: flag), size: probe.storedSize, profile: nil, reduction: 1, isTolerant: false)
    }
  }

  /// What a source passes, up to its error if it has one.
  private struct Reading: Equatable {
    var planes: [[UInt8]]
    var error: CodecError?

    init(_ source: any RowSource, most: Int = .max) {
      let layout = source.layout
      var rows = layout.planes.map { _ in [UInt8]() }
      var bands = 0
      do throws(CodecError) {
        while bands < most,
          try source.read({ band in
            bands += 1
            let plane = layout.planes[band.plane]
            for row in 0..<band.count {
              rows[band.plane] += UnsafeRawBufferPointer(
                start: band.start + row * band.stride, count: plane.size.width * plane.channels * layout.sampleBytes)
            }
          })
        {}
      } catch {
        self.error = error
      }
      planes = rows
    }
  }

  private static func ahead(_ source: any RowSource, _ spare: SpareProcessors, most: Int = .max) -> Reading {
    RowReadAhead.reading(source, spare, leastPixels: 1) { Reading($0, most: most) }
  }

  @Test(arguments: files)
  func theRowsAreThoseOfTheSource(_ file: (saver: String, options: String)) throws {
    let body = ByteSource.memory(try Self.picture.encoded(file.saver, file.options))
    #expect(try Self.source(body).suitsReadAhead)
    let alone = Reading(try Self.source(body))
    #expect(alone.error == nil)
    for count in 0...2 {
      let spare = SpareProcessors(count)
      let made = Self.ahead(try Self.source(body), spare) == alone
      #expect(made, "\(count) to spare")
      #expect((0..<count).allSatisfy { _ in spare.take() }, "the thread has kept a processor")
    }
  }

  @Test(arguments: files)
  func anErrorComesBehindTheRowsBeforeIt(_ file: (saver: String, options: String)) throws {
    let bytes = try Self.picture.encoded(file.saver, file.options)
    for share in [5, 20, 50, 80, 99] {
      let cut = ByteSource.memory(Array(bytes.prefix(bytes.count * share / 100)))
      guard let source = try? Self.source(cut) else { continue }
      let alone = Reading(source)
      let made = Self.ahead(try Self.source(cut), SpareProcessors(1)) == alone
      #expect(made, "\(share) %")
    }
  }

  @Test(arguments: files)
  func aReaderThatEndsEarlyEndsTheThread(_ file: (saver: String, options: String)) throws {
    let body = ByteSource.memory(try Self.picture.encoded(file.saver, file.options))
    let spare = SpareProcessors(1)
    for most in 0..<3 { _ = Self.ahead(try Self.source(body), spare, most: most) }
    #expect(spare.take())
  }

  /// A source that takes the only idle processor while it is read.
  private final class Greedy: RowSource {
    let source: any RowSource
    let spare: SpareProcessors
    private var reads = 0
    var layout: RowLayout { source.layout }
    var suitsReadAhead: Bool { true }

    init(_ source: any RowSource, _ spare: SpareProcessors) { (self.source, self.spare) = (source, spare) }

    func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
      reads += 1
      if reads == 3 { _ = spare.take() }
      return try source.read(receive)
    }
  }

  @Test func theCallerReadsTheRestIfNoProcessorIsLeft() throws {
    let body = ByteSource.memory(try Self.picture.encoded("tiffsave_buffer", "compression=deflate,tile-height=16"))
    let spare = SpareProcessors(2)
    let made = Self.ahead(Greedy(try Self.source(body), spare), spare) == Reading(try Self.source(body))
    #expect(made)
    #expect(spare.take() && !spare.take())
  }
}
