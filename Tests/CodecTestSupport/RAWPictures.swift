import TestSupport

@testable import ThumbnailCore

/// RAW files with previews of red, green, blue and yellow quarters.
enum RAWPictures {
  static let thumbnail = PixelSize(150, 100)
  static let preview = PixelSize(600, 400)
  static let full = PixelSize(1500, 1000)

  /// The previews' files, without EXIF data. Made once: they have millions of pixels.
  private static let made = Result {
    func jpeg(_ size: PixelSize) throws -> [UInt8] {
      try TestPicture.quarters(size.width, size.height).encoded("jpegsave_buffer", "strip=true")
    }
    return RAWSample.Previews(thumbnail: try jpeg(thumbnail), preview: try jpeg(preview), full: try jpeg(full))
  }

  static func previews() throws -> RAWSample.Previews { try made.get() }

  static func file(
    _ kind: String, orientation: Int = 1, sensorLength: Int = RAWSample.defaultSensorLength
  ) throws -> [UInt8] {
    RAWSample(kind, try previews(), orientation: orientation, sensorLength: sensorLength).bytes
  }
}
