/// A width and height in fractional pixels.
struct PixelExtent: Sendable, Equatable {
  var width: Double
  var height: Double
}
