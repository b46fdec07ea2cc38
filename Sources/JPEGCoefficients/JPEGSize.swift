/// The width and height of a picture, in pixels.
package struct JPEGSize: Sendable, Equatable, CustomStringConvertible {
  package var width: Int
  package var height: Int

  package init(_ width: Int, _ height: Int) { (self.width, self.height) = (width, height) }

  /// Width times height.
  var pixelCount: Int { width * height }

  /// As in "640x480".
  package var description: String { "\(width)x\(height)" }
}
