/// A width and a height in points, the unit of a front end's layout; `GridLayout.scale` converts to pixels.
public struct GridSize: Sendable, Hashable {
  /// The width in points.
  public var width: Double
  /// The height in points.
  public var height: Double

  /// A size of `width` × `height` points.
  public init(_ width: Double, _ height: Double) {
    self.width = width
    self.height = height
  }
}

/// The margins around the cells of each section, in points.
public struct GridInsets: Sendable, Hashable {
  /// Above the first row, below the section's header.
  public var top: Double
  /// Left of the first column.
  public var left: Double
  /// Below the last row.
  public var bottom: Double
  /// Right of the last column.
  public var right: Double

  /// Insets; none by default.
  public init(top: Double = 0, left: Double = 0, bottom: Double = 0, right: Double = 0) {
    self.top = top
    self.left = left
    self.bottom = bottom
    self.right = right
  }
}

/// A rectangle in the content of a grid, in points from its upper left corner.
public struct GridFrame: Sendable, Hashable {
  /// The left edge.
  public var x: Double
  /// The upper edge.
  public var y: Double
  /// The width in points.
  public var width: Double
  /// The height in points.
  public var height: Double

  /// The lower edge.
  public var bottom: Double { y + height }
}

/// The position of an item, for front ends with sections.
public struct GridIndex: Sendable, Hashable {
  /// The section, from 0.
  public var section: Int
  /// The item within its section, from 0.
  public var item: Int

  /// The position of an item in a section.
  public init(section: Int, item: Int) {
    self.section = section
    self.item = item
  }
}
