/// A program's own step between the pixels of a thumbnail and its encoding, such as a blur or a watermark.
///
/// A pipeline has it in `Configuration.processors`, and `Variant.processor` names it.
public struct ThumbnailProcessor: Sendable {
  /// The name that variants give: 1 to 64 ASCII letters, digits, `-`, `_` and `.`. It is part of the cache key, so a
  /// step with another result needs another name: `blur-3`, `watermark.2`.
  public let identifier: String
  /// Changes the pixels in place. Several threads of the pipeline call it at the same time, and it may block. An error
  /// ends the request with `ThumbnailError.processingFailed`.
  let change: @Sendable (inout ThumbnailPixels) throws -> Void

  /// A step of this name.
  public init(_ identifier: String, change: @escaping @Sendable (inout ThumbnailPixels) throws -> Void) {
    (self.identifier, self.change) = (identifier, change)
  }

  /// A message that says why a name is invalid and what to do; nil if it is valid.
  static func problem(_ identifier: String) -> String? {
    let isValid =
      (1...64).contains(identifier.utf8.count)
      && identifier.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
    return isValid ? nil : "a processor cannot be called '\(identifier)': use 1 to 64 letters, digits, -, _ and ."
  }

  /// A message that says why this name is invalid; nil if it is valid.
  package var problem: String? { Self.problem(identifier) }

  /// Changes the pixels of an image, but not their number.
  ///
  /// - Throws: The errors of the program's step; `InvalidValue` if it has changed their number.
  package func process(_ pixels: inout ThumbnailPixels) throws {
    let count = pixels.bytes.count
    try change(&pixels)
    guard pixels.bytes.count == count else { throw InvalidValue("it left \(pixels.bytes.count) bytes of \(count)") }
  }
}

/// The pixels of a thumbnail before it is encoded: upright, cropped and of their final size.
public struct ThumbnailPixels: Sendable {
  /// The width in pixels.
  public let width: Int
  /// The height in pixels.
  public let height: Int
  /// Red, green, blue and alpha of each pixel, 8 bits each, rows from the top down without padding: `4 * width *
  /// height` bytes. The colours are sRGB, unless the variant keeps the image's profile, and not multiplied by alpha;
  /// alpha 255 is opaque.
  public var bytes: [UInt8]

  package init(width: Int, height: Int, bytes: [UInt8]) {
    (self.width, self.height, self.bytes) = (width, height, bytes)
  }
}
