public import FoundationEssentials

/// What is shown of an image until its thumbnail is there: a blur of it, and one colour.
public struct Placeholder: Sendable, Hashable {
  /// The image as a ThumbHash (https://evanw.github.io/thumbhash/): 5 to 25 bytes, from which about 32×32 pixels can be
  /// drawn. It knows transparency, and the aspect ratio roughly.
  public let thumbHash: Data
  /// The mean colour of what can be seen.
  public let colour: RGBColor

  /// Makes a placeholder.
  public init(thumbHash: Data, colour: RGBColor) {
    (self.thumbHash, self.colour) = (thumbHash, colour)
  }

  /// The bytes it is stored as: the colour's three channels, then the ThumbHash.
  package var bytes: Data { Data([colour.red, colour.green, colour.blue]) + thumbHash }

  /// Reads stored bytes. Nil if they are too few or too many.
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
