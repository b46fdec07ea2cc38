extension Framing {
  /// The framing as a short string, without semicolons: `@t6,c300.0:200.0:northwest:10.0:20.0:1`. Values that are not
  /// set are left out.
  var token: String {
    let none = Framing()
    var parts: [String] = []
    func add(_ isSet: Bool, _ text: @autoclosure () -> String) { if isSet { parts.append(text()) } }
    add(needsUpright, "u")
    add(turn != none.turn, "t\(turn.exif)")
    if let crop { parts.append("c\(crop.width):\(crop.height):\(crop.placement.text):\(crop.isStrict ? 1 : 0)") }
    if let placement { parts.append("p\(placement.text)") }
    add(minimum != none.minimum, "m\(minimum.width):\(minimum.height)")
    add(zoom != none.zoom, "z\(zoom.x):\(zoom.y)")
    add(density != none.density, "d\(density)")
    add(shortfall != none.shortfall, "s\(shortfall.rawValue)")
    if let canvas { parts.append("e\(canvas.extent.rawValue):\(canvas.placement.text)") }
    add(padding != none.padding, "b\(padding.top):\(padding.right):\(padding.bottom):\(padding.left)")
    add(filling != none.filling, "f\(filling.text)")
    return "@" + parts.joined(separator: ",")
  }

  /// Parses a token. Nil for a text with other parts; the caller compares the text with the token of the result.
  init?(token: some StringProtocol) {
    guard token.hasPrefix("@") else { return nil }
    for part in token.dropFirst().split(separator: ",") {
      let values = part.dropFirst().split(separator: ":", omittingEmptySubsequences: false).map { Substring($0) }
      let (numbers, lengths) = (values.compactMap { Double($0) }, values.compactMap { Int($0) })
      switch part.first {
      case "u": needsUpright = true
      case "t" where lengths.count == 1: turn = Orientation(exif: lengths[0])
      case "c" where values.count == 6:
        guard let width = Double(values[0]), let height = Double(values[1]),
          let place = Placement(values: values[2..<5])
        else { return nil }
        crop = Crop(width: width, height: height, placement: place, isStrict: values[5] == "1")
      case "p":
        guard let place = Placement(values: values) else { return nil }
        placement = place
      case "m" where lengths.count == 2: minimum = PixelSize(lengths[0], lengths[1])
      case "z" where numbers.count == 2: zoom = Scale(numbers[0], numbers[1])
      case "d" where numbers.count == 1: density = numbers[0]
      case "s":
        guard let known = Shortfall(rawValue: String(part.dropFirst())) else { return nil }
        shortfall = known
      case "e":
        guard let extent = values.first.flatMap({ Canvas.Extent(rawValue: String($0)) }),
          let place = Placement(values: values.dropFirst())
        else { return nil }
        canvas = Canvas(extent, placement: place)
      case "b" where lengths.count == 4:
        padding = Padding(top: lengths[0], right: lengths[1], bottom: lengths[2], left: lengths[3])
      case "f":
        guard let known = Filling(text: String(part.dropFirst())) else { return nil }
        filling = known
      default: return nil
      }
    }
  }
}

extension Framing.Filling {
  fileprivate var text: String {
    switch self {
    case .clear: "clear"
    case .black: "black"
    case .colour(let colour): colour.hex
    case .edge: "edge"
    case .mirror: "mirror"
    }
  }

  fileprivate init?(text: String) {
    switch text {
    case "clear": self = .clear
    case "black": self = .black
    case "edge": self = .edge
    case "mirror": self = .mirror
    default:
      guard let colour = RGBColor(hex: text) else { return nil }
      self = .colour(colour)
    }
  }
}
