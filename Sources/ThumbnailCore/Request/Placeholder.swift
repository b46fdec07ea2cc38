public import FoundationEssentials

/// A stand-in until the thumbnail has arrived: a blurred image and one colour.
public struct Placeholder: Sendable, Hashable {
  /// The image as a ThumbHash (https://evanw.github.io/thumbhash/): 5 to 25 bytes, from which about 32×32 pixels can be
  /// drawn. It includes transparency and the approximate aspect ratio.
  public let thumbHash: Data
  /// The mean colour of the visible pixels.
  public let colour: RGBColor

  /// Makes a placeholder.
  package init(thumbHash: Data, colour: RGBColor) {
    (self.thumbHash, self.colour) = (thumbHash, colour)
  }

  /// The stored form: the colour's three channels, then the ThumbHash.
  package var bytes: Data { Data([colour.red, colour.green, colour.blue]) + thumbHash }

  /// Reads the stored form. Nil if it is too short or too long.
  package init?(bytes: Data) {
    guard (Self.shortest...Self.longest).contains(bytes.count) else { return nil }
    let bytes = Data(bytes)
    self.init(
      thumbHash: bytes.dropFirst(Self.channels), colour: RGBColor(red: bytes[0], green: bytes[1], blue: bytes[2]))
  }

  private static let channels = 3
  private static let shortest = channels + 5
  private static let longest = channels + 25
}
