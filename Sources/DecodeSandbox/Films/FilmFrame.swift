import CSandbox
import Glibc
import ImageCodec
import ThumbnailCore

/// A frame of a film as ffmpeg writes it: a PPM of 8 bits.
struct FilmFrame {
  let (width, height): (Int, Int)
  private let pixels: [UInt8]
  /// The part of its pixels that are not black, from 0 to 1.
  let light: Double

  var isBlack: Bool { light < Self.leastLight }

  /// A frame with less light is black, as of ffmpeg's filter `blackframe`.
  private static let leastLight = 0.02
  /// The brightest value of black.
  private static let black = 32
  /// The longest header, in bytes.
  private static let longestHeader = 32

  /// Takes the first frame out of the bytes that have arrived. Nil until it is whole.
  ///
  /// - Parameter most: The most pixels of a frame.
  /// - Throws: `.nonsense` if it is something else.
  init?(takenFrom bytes: inout [UInt8], most: Int) throws(HelperFailure) {
    let head = bytes.prefix(Self.longestHeader)
    let lines = head.split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false)
    guard lines.count == 4 else {
      if head.count == Self.longestHeader { throw .nonsense(detail: "no frame") }
      return nil
    }
    let texts = lines.prefix(3).map { String(decoding: $0, as: UTF8.self) }
    let sides = texts[1].split(separator: " ").compactMap { Int($0) }
    guard texts[0] == "P6", texts[2] == "255", sides.count == 2, sides.allSatisfy({ (1...65_535).contains($0) }),
      sides[0] * sides[1] <= most
    else { throw .nonsense(detail: "no frame") }
    let samples = lines[3].startIndex..<lines[3].startIndex + sides[0] * sides[1] * 3
    guard bytes.count >= samples.upperBound else { return nil }
    (width, height) = (sides[0], sides[1])
    pixels = Array(bytes[samples])
    bytes.removeFirst(samples.upperBound)
    // A few thousand pixels are enough.
    var (seen, lit) = (0, 0)
    for pixel in stride(from: 0, to: 3 * width * height, by: 3 * max(1, width * height / 10_007)) {
      let sum = pixels[pixel..<pixel + 3].reduce(0) { $0 + Int($1) }
      (seen, lit) = (seen + 1, lit + (sum > 3 * Self.black ? 1 : 0))
    }
    light = Double(lit) / Double(seen)
  }

  /// The frame as an uncompressed TIFF in a file in memory.
  func file() throws(SystemFailure) -> FileDescriptor {
    var header: [UInt8] = Array("II*\0".utf8)
    func append(_ number: Int, _ length: Int) {
      header += (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    let entries = [
      (256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, 134), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, 140),
      (277, 3, 1, 3), (278, 4, 1, height), (279, 4, 1, pixels.count), (284, 3, 1, 1),
    ]
    append(8, 4)
    append(entries.count, 2)
    for (tag, type, count, value) in entries {
      append(tag, 2)
      append(type, 2)
      append(count, 4)
      append(value, 4)
    }
    append(0, 4)
    for _ in 0..<3 { append(8, 2) }
    let descriptor = csandbox_memory_file()
    guard descriptor >= 0 else { throw .last }
    let file = FileDescriptor(owning: descriptor)
    try file.write(header, at: 0)
    try file.write(pixels, at: header.count)
    return file
  }
}
