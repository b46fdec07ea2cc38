import Foundation
@testable import JPEGCoefficients
import TestSupport
import Testing
@testable import ThumbnailCore

/// Lanes make of every file what decoding its blocks one after the other makes, and end with the same errors.
@Suite(.timeLimit(.minutes(5))) struct LanesTests {
  private typealias Texture = SequentialJPEG.Texture

  /// What was read.
  private struct Reading: Equatable {
    var samples: [[UInt8]]
    var consumedBytes: Int
  }

  /// Parts of a few bytes, so that small files have many.
  private static func sizes(_ shortest: Int = 64, longest: Int = 512, room: Int = 1 << 10) -> LaneSchedule.Sizes {
    var sizes = LaneSchedule.Sizes()
    (sizes.leastScan, sizes.leastInterval, sizes.overlap) = (1, 8, 16)
    (sizes.shortestPart, sizes.longestPart, sizes.room) = (shortest, longest, room)
    return sizes
  }

  private func read(
    _ body: ByteSource, _ size: PixelSize, _ scale: JPEGScale, _ lanes: LaneSchedule.Sizes?, isTolerant: Bool = false,
    window: Int? = nil
  ) -> Result<Reading, CodecError> {
    var decoder = CoefficientDecoder(
      body, size: size, scale: scale, isTolerant: isTolerant, cancellation: CancellationFlag(), window: window)
    decoder.lanes = lanes
    return Result { () throws(CodecError) in
      let image = try decoder.decode()
      let samples = image.planes.map { plane in
        [UInt8](UnsafeBufferPointer(start: plane.start, count: plane.samples.rows * plane.rowBytes))
      }
      return Reading(samples: samples, consumedBytes: image.consumedBytes)
    }
  }

  /// Compares the readings of a file with lanes of several sizes to the one without.
  private func compare(_ file: [UInt8], _ size: PixelSize, isTolerant: Bool = false, _ comment: Comment? = nil) {
    for scale in JPEGScale.reduced {
      let serial = read(.memory(file), size, scale, nil, isTolerant: isTolerant)
      for sizes in [Self.sizes(), Self.sizes(16, longest: 64, room: 32), LaneSchedule.Sizes()] {
        #expect(read(.memory(file), size, scale, sizes, isTolerant: isTolerant) == serial, comment)
      }
    }
  }

  @Test(
    arguments: [[(1, 1)], [(2, 2), (1, 1), (1, 1)], [(2, 1), (1, 1), (1, 1)], [(1, 2), (1, 1), (1, 1)]] + [
      [(1, 1), (1, 1), (1, 1)], [(4, 1), (1, 1), (1, 1)], [(4, 2), (1, 1), (1, 1)], [(1, 1), (2, 2), (2, 1)],
    ])
  func everySamplingIsReadAsWithoutLanes(_ factors: [(Int, Int)]) {
    for texture in SequentialJPEG.Texture.allCases {
      for interval in [0, 1, 7, 40] {
        for sharesTables in interval == 0 ? [false, true] : [false] {
          var jpeg = SequentialJPEG(sampling: factors.map { PixelSize($0, $1) }, texture: texture)
          (jpeg.restartInterval, jpeg.sharesTables) = (interval, sharesTables)
          if texture == .noise { jpeg.size = PixelSize(123, 101) }
          compare(jpeg.bytes(), jpeg.size, "\(factors) \(texture) \(interval) \(sharesTables)")
        }
      }
    }
  }

  @Test func partsThatMeetAreDecodedByLanes() throws {
    let jpeg = SequentialJPEG(size: PixelSize(1600, 1200))
    let file = jpeg.bytes()
    let image = try CoefficientDecoder(
      ByteSource.memory(file), size: jpeg.size, scale: .eighth, cancellation: CancellationFlag()
    ).decode()
    #expect(image.size == PixelSize(200, 150))
    #expect(file.count > LaneSchedule.Sizes().leastScan)
    compare(file, jpeg.size)
  }

  @Test func aFileIsReadThroughAWindowAsInMemory() throws {
    let jpeg = SequentialJPEG(size: PixelSize(500, 400), restartInterval: 15)
    let file = jpeg.bytes()
    let directory = try TemporaryDirectory()
    let url = directory.url.appending(path: "a.jpg")
    try Data(file).write(to: url)
    let body = ByteSource.file(FileDescriptor(owning: open(url.path, O_RDONLY)), count: file.count)
    for scale in JPEGScale.reduced {
      let whole = read(.memory(file), jpeg.size, scale, nil)
      for window in [nil, 2, 700, 5000] {
        #expect(read(body, jpeg.size, scale, Self.sizes(), window: window) == whole)
      }
    }
  }

  @Test func damageAndTruncationEndAsWithoutLanes() {
    var random = SplitMix(state: 1)
    for (texture, interval) in [(Texture.photograph, 0), (.photograph, 9), (.noise, 4), (.constant, 0)] {
      let jpeg = SequentialJPEG(size: PixelSize(200, 160), texture: texture, restartInterval: interval)
      let file = jpeg.bytes()
      for round in 0..<(Thoroughness.isFull ? 30 : 15) {
        var damaged = file
        for _ in 0...round % 3 {
          let index = file.count / 4 + random.below(file.count * 3 / 4)
          switch round % 5 {
          case 0: damaged[index] ^= 1 << UInt8(random.below(8))
          case 1: damaged[index] = UInt8(random.below(256))
          case 2: damaged.removeLast(min(random.below(damaged.count / 4), damaged.count / 2))
          case 3: damaged.removeLast(random.below(4))
          default: damaged.insert(contentsOf: [0xFF, 0xD0 + UInt8(random.below(8))], at: min(index, damaged.count))
          }
        }
        compare(damaged, jpeg.size, isTolerant: round % 2 == 0, "\(texture) \(interval) \(round)")
      }
    }
  }

  @Test func aFileThatEndsAtAnyByteIsReadAsWithoutLanes() {
    let jpeg = SequentialJPEG(size: PixelSize(160, 128), restartInterval: 11)
    let file = jpeg.bytes()
    for cut in 1...min(600, file.count / 2) {
      let sizes = Self.sizes(16, longest: 64)
      for isTolerant in [false, true] {
        let (body, scale) = (ByteSource.memory(Array(file.dropLast(cut))), cut % 2 == 0 ? JPEGScale.eighth : .quarter)
        let serial = read(body, jpeg.size, scale, nil, isTolerant: isTolerant)
        #expect(read(body, jpeg.size, scale, sizes, isTolerant: isTolerant) == serial, "\(cut)")
      }
    }
  }

  @Test(.withTheCorpus)
  func theCorpusIsReadAsWithoutLanes() throws {
    var count = 0
    for (name, file) in SharedCorpus.root.files(beginningWith: [0xFF, 0xD8, 0xFF]) {
      guard let size = Self.size(of: file), file.count < 1 << 20 else { continue }
      for isTolerant in [false, true] { compare(file, size, isTolerant: isTolerant, "\(name)") }
      count += 1
    }
    #expect(count > 30)
  }

  /// The size in the frame header of a sequential file.
  private static func size(of file: [UInt8]) -> PixelSize? {
    var index = 2
    while index + 9 < file.count, file[index] == 0xFF, file[index + 1] != 0xDA {
      func number(_ offset: Int) -> Int { Int(file[index + offset]) << 8 | Int(file[index + offset + 1]) }
      if (0xC0...0xC1).contains(file[index + 1]) { return PixelSize(number(7), number(5)) }
      index += 2 + number(2)
    }
    return nil
  }
}
