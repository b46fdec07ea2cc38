@testable import RAWPreviews
import TestSupport

/// Files that are cut off, damaged, or made to lead a reader astray.
@Suite(.timeLimit(.minutes(5))) struct RAWDamageTests {
  /// What is wrong with what was found in a file; nil if it makes sense.
  private func problem(_ bytes: [UInt8]) -> String? {
    let (file, reads, byteCount) = RAWSamples.read(bytes)
    if reads > RAWReader.mostReads || byteCount > bytes.count + RAWReader.mostReads * KnownBytes.least {
      return "\(byteCount) bytes in \(reads) reads"
    }
    return file?.images.first { image in
      let isSized = (0...0xFFFF).contains(image.width) && (0...0xFFFF).contains(image.height)
      return !isSized || image.range.lowerBound < 0 || image.encoding == .jpeg && image.width * image.height == 0
    }.map { "\($0)" }
  }

  @Test(arguments: RAWSample.kinds) func filesAreReadAsFarAsTheyGo(_ kind: String) throws {
    let bytes = try RAWSamples.sample(kind, sensorLength: 1000).bytes
    for step in 0..<200 {
      let length = bytes.count * step / 200
      if let problem = problem(Array(bytes[..<length])) { Issue.record("\(kind), \(length) bytes: \(problem)") }
    }
  }

  @Test(arguments: RAWSample.kinds) func flippedBitsDoNoHarm(_ kind: String) throws {
    let sample = try RAWSamples.sample(kind, sensorLength: 1000)
    var random = SplitMix(state: 16)
    // Most of the structure is near the beginning.
    let positions = Thoroughness.rounds(1000).map {
      Int.random(in: 0..<($0 % 4 == 0 ? sample.bytes.count : 1200), using: &random)
    }
    for position in positions {
      var bytes = sample.bytes
      bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      if let problem = problem(bytes) { Issue.record("\(kind), a bit of byte \(position): \(problem)") }
    }
  }

  @Test func circlesOfDirectoriesEnd() {
    // The chain leads back to its first directory, whose subdirectory is itself.
    var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 2, 0]
    bytes += [0x06, 0x01, 3, 0, 1, 0, 0, 0, 0x23, 0x80, 0, 0]
    bytes += [0x4A, 0x01, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0]
    bytes += [8, 0, 0, 0]
    let (file, reads, _) = RAWSamples.read(bytes)
    #expect(file?.format == .tiffEP && file?.images.isEmpty == true && reads == 1)
  }

  @Test func directoriesFarApartAreReadOnlySoOften() throws {
    // Each of many directories lies in a part of its own.
    let (count, stride) = (100, 80_000)
    var bytes = [UInt8](repeating: 0, count: 8 + count * stride)
    bytes.replaceSubrange(0..<8, with: [0x49, 0x49, 42, 0, 8, 0, 0, 0])
    for index in 0..<count {
      let start = 8 + index * stride
      let next = start + stride
      bytes.replaceSubrange(
        start..<start + 18,
        with: [1, 0, 0x06, 0x01, 3, 0, 1, 0, 0, 0, 0x23, 0x80, 0, 0] + (0..<4).map { UInt8(next >> (8 * $0) & 255) })
    }
    let (file, reads, byteCount) = RAWSamples.read(bytes)
    #expect(file?.format == .tiffEP && reads <= RAWReader.mostReads && byteCount < 1 << 20)
  }

  @Test func positionsBeyondTheEndAreNotFollowed() {
    for position: UInt32 in [0x7FFF_FFFF, 0xFFFF_FFFF] {
      let place = (0..<4).map { UInt8(truncatingIfNeeded: position >> (8 * $0)) }
      var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 4, 0]
      bytes += [0x12, 0xC6, 1, 0, 4, 0, 0, 0, 1, 4, 0, 0]
      bytes += [0x01, 0x02, 4, 0, 1, 0, 0, 0] + place
      bytes += [0x02, 0x02, 4, 0, 1, 0, 0, 0] + place
      bytes += [0x4A, 0x01, 4, 0] + place + place
      bytes += place
      let (file, _, _) = RAWSamples.read(bytes)
      #expect(file?.format == .dng && file?.previews.isEmpty == true)
    }
  }

  @Test(arguments: ["ftypcrx ", "FUJIFILMCCD-RAW ", "\0MRM", "II*\0", "IIU\0", "IIRO", "MM\0*"])
  func noiseBehindASignatureIsNothing(_ signature: String) {
    var random = SplitMix(state: 61)
    let start: [UInt8] = signature.hasPrefix("ftyp") ? [0, 0, 0, 16] : []
    for _ in 0..<50 {
      let noise = (0..<2000).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(problem(start + Array(signature.utf8) + noise) == nil)
    }
  }
}
