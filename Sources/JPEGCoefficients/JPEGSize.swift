/// The width and height of an image, in pixels.
package struct JPEGSize: Sendable, Equatable, CustomStringConvertible {
  package var width: Int
  package var height: Int

  package init(_ width: Int, _ height: Int) { (self.width, self.height) = (width, height) }

  /// Width times height.
  var pixelCount: Int { width * height }

  /// For example "640x480".
  package var description: String { "\(width)x\(height)" }
}
