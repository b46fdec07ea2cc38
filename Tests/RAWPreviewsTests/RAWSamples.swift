@testable import RAWPreviews
import TestSupport

/// RAW files for tests, and how they are read.
enum RAWSamples {
  static func jpeg(_ name: String) throws -> [UInt8] { Array(try TestImages.bytes("formats/\(name).jpg")) }

  static func previews() throws -> RAWSample.Previews {
    RAWSample.Previews(
      thumbnail: try jpeg("jpeg-420"), preview: try jpeg("orientation-1"), full: try jpeg("jpeg-exif-thumbnail"))
  }

  static func sample(
    _ kind: String, orientation: Int = 1, sensorLength: Int = RAWSample.defaultSensorLength
  ) throws -> RAWSample {
    RAWSample(kind, try previews(), orientation: orientation, sensorLength: sensorLength)
  }

  /// What is found in a file, and how much of it is read for that.
  static func read(_ bytes: [UInt8]) -> (file: RAWFile?, reads: Int, byteCount: Int) {
    var (reads, byteCount) = (0, 0)
    var reader = RAWReader()
    while true {
      switch reader.next() {
      case .found(let file): return (file, reads, byteCount)
      case .notRAW: return (nil, reads, byteCount)
      case .read(let range):
        let there = range.clamped(to: 0..<bytes.count)
        reads += 1
        byteCount += there.count
        reader.add(Array(bytes[there]), of: range)
      }
    }
  }
}
