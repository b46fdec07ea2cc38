public import ArgumentParser
public import Thumbnailer

extension PixelSize {
  /// Reads `400x300`, or says how it is written.
  static func option(_ text: String) throws -> PixelSize {
    if let size = PixelSize(parsing: text) { return size }
    let isSide = Int(text).map { $0 > 0 } ?? false
    throw ValidationError("write width and height in pixels, such as \(isSide ? "\(text)x\(text)" : "400x300")")
  }
}

extension ByteSize {
  /// Reads `256MiB`, or says how it is written.
  static func option(_ text: String) throws -> ByteSize {
    if let size = ByteSize(parsing: text) { return size }
    throw ValidationError("write a number of bytes, such as 256MiB")
  }
}

extension Fit: ExpressibleByArgument {}
extension Gravity: ExpressibleByArgument {}
extension OutputFormat: ExpressibleByArgument {}
extension Scaling: ExpressibleByArgument {}

/// What the thumbnails shall be.
struct ThumbnailOptions: ParsableArguments {
  @Option(
    name: .customLong("size"),
    help: ArgumentHelp(
      "The thumbnails' box in device pixels; prefetch takes several --size. (default: 400x400)", valueName: "WxH"),
    transform: PixelSize.option)
  var sizes: [PixelSize] = []

  @Option(
    help: "How a picture is laid into the box: cover fills it and crops, contain shows all of it, fill stretches.")
  var fit = Fit.cover

  @Option(help: "What cover keeps.")
  var gravity = Gravity.centre

  @Option(help: "The thumbnails' format; auto is JPEG, or WebP where a picture has transparent parts.")
  var format = OutputFormat.auto

  @Option(help: ArgumentHelp("The encoder's quality, 1 to 100.", valueName: "N"))
  var quality = 80

  @Option(help: "fast decodes at least the thumbnail's size, best at least twice that: sharper and slower.")
  var scaling = Scaling.fast

  func validate() throws {
    guard (1...100).contains(quality) else {
      throw ValidationError("--quality \(quality) cannot be used: give a number from 1 to 100")
    }
    for size in sizes where !size.isValidThumbnailSize {
      throw ValidationError(
        "--size \(size) cannot be used: each side must be from 1 to \(PixelSize.longestThumbnailSide) pixels")
    }
  }

  /// One variant for each size, in the order given, without repetition.
  var variants: [Variant] {
    var seen: Set<PixelSize> = []
    return (sizes.isEmpty ? [PixelSize(400, 400)] : sizes).filter { seen.insert($0).inserted }.map {
      Variant(size: $0, fit: fit, gravity: gravity, format: format, quality: quality, scaling: scaling)
    }
  }
}
