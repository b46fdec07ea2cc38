/// The place of a smaller rectangle in a larger one: the part of an image that is kept, or an image on a larger canvas.
public enum Placement: Hashable, Sendable {
  /// At an edge, in a corner or in the middle, and moved from there.
  ///
  /// `x` and `y` are pixels if they are 1 or more, else fractions of the larger rectangle's sides. They point inwards
  /// from an edge, and right and down from the middle. They do not apply to the gravities that look for content
  /// (`attention`, `entropy`).
  case gravity(Gravity, x: Double = 0, y: Double = 0)
  /// The middle is as near as possible to this point, in fractions of the larger rectangle's sides from the upper left
  /// corner.
  case focus(x: Double, y: Double)

  /// Whether the image's content decides.
  package var isByContent: Bool {
    if case .gravity(let gravity, _, _) = self { gravity == .attention || gravity == .entropy } else { false }
  }

  /// The upper left corner of the smaller rectangle, which stays within the larger one. By content: in the middle.
  ///
  /// - Parameter scale: The factors for lengths in pixels, across and down.
  func corner(of inner: PixelSize, in outer: PixelSize, scale: (x: Double, y: Double)) -> (x: Int, y: Int) {
    switch self {
    case .focus(let x, let y):
      func start(_ share: Double, _ outer: Int, _ inner: Int) -> Int {
        Self.within(outer - inner, Self.rounded(Double(outer) * share) - inner / 2)
      }
      return (start(x, outer.width, inner.width), start(y, outer.height, inner.height))
    case .gravity(let gravity, let x, let y):
      func start(_ side: Int, _ length: Double, _ outer: Int, _ inner: Int, _ scale: Double) -> Int {
        let offset = Self.rounded(abs(length) < 1 ? length * Double(outer) : length * scale)
        let spare = outer - inner
        return Self.within(spare, side < 0 ? offset : side > 0 ? spare - offset : spare / 2 + offset)
      }
      let sides = gravity.sides
      return (
        start(sides.x, x, outer.width, inner.width, scale.x), start(sides.y, y, outer.height, inner.height, scale.y)
      )
    }
  }

  private static func within(_ spare: Int, _ start: Int) -> Int { max(0, min(spare, start)) }

  private static func rounded(_ length: Double) -> Int { Int(length.rounded(.toNearestOrEven)) }

  /// Whether its numbers are within the range of the computation.
  var isValid: Bool {
    switch self {
    case .gravity(_, let x, let y): abs(x) <= Framing.longest && abs(y) <= Framing.longest
    case .focus(let x, let y): (0...1).contains(x) && (0...1).contains(y)
    }
  }

  /// `northwest:10:20`, `focus:0.3:0.7`; the last values of a list that `init(values:)` reads.
  var text: String {
    switch self {
    case .gravity(let gravity, let x, let y): "\(gravity.rawValue):\(x):\(y)"
    case .focus(let x, let y): "focus:\(x):\(y)"
    }
  }

  init?(values: some Collection<Substring>) {
    let values = Array(values)
    guard values.count == 3, let x = Double(values[1]), let y = Double(values[2]) else { return nil }
    if values[0] == "focus" {
      self = .focus(x: x, y: y)
    } else if let gravity = Gravity(rawValue: String(values[0])) {
      self = .gravity(gravity, x: x, y: y)
    } else {
      return nil
    }
  }
}

extension Gravity {
  /// Which edge it is at, across and down: -1 left or top, 0 neither, 1 right or bottom.
  fileprivate var sides: (x: Int, y: Int) {
    switch self {
    case .centre, .attention, .entropy: (0, 0)
    case .north: (0, -1)
    case .northeast: (1, -1)
    case .east: (1, 0)
    case .southeast: (1, 1)
    case .south: (0, 1)
    case .southwest: (-1, 1)
    case .west: (-1, 0)
    case .northwest: (-1, -1)
    }
  }
}
