import ArgumentParser
import ThumbnailCore
import Thumbnailer

/// Changes of a picture's outline, besides fitting it into the box. It is turned first, then mirrored, cropped,
/// resized, extended and padded.
struct FramingOptions: ParsableArguments {
  @Option(
    "WxH[+X+Y]",
    "The part of the picture that is used, in its pixels once it is upright and turned: its size and its upper left "
      + "corner; without the corner --gravity places it.")
  var crop: String?

  @Option(
    "DEGREES", "Turn the picture clockwise: 90, 180 or 270 degrees.",
    OptionRule { [0, 90, 180, 270].contains($0) ? nil : "give 0, 90, 180 or 270" })
  var rotate = 0

  /// The sides that change places.
  enum Flip: String, ExpressibleByArgument, CaseIterable {
    case horizontal, vertical, both
  }

  @Option(help: "Mirror the picture after that: horizontal swaps left and right.")
  var flip: Flip?

  @Flag(help: "Extend thumbnails to the whole box; --gravity places the picture. JPEG shows white there.")
  var extend = false

  @Option("N", "Add N pixels around each thumbnail.", .within(0...1000))
  var pad = 0

  func validate() throws {
    if let crop, Framing.Crop(parsing: crop) == nil {
      throw ValidationError("write --crop 300x200+10+20, or 300x200 for a part in the middle")
    }
  }

  /// - Parameter gravity: The place of a part without a corner, and of a picture that is extended.
  func framing(_ gravity: Gravity) -> Framing {
    var framing = Framing()
    framing.crop = crop.flatMap { Framing.Crop(parsing: $0, gravity: gravity) }
    framing.turn = Orientation(
      degrees: rotate, flipsAcross: flip == .horizontal || flip == .both,
      flipsDown: flip == .vertical || flip == .both)
    let isByContent = [.attention, .entropy].contains(gravity)
    if extend { framing.canvas = Framing.Canvas(placement: .gravity(isByContent ? .centre : gravity)) }
    framing.padding = Framing.Padding(pad)
    return framing
  }
}
