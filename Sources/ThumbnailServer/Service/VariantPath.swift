package import ThumbnailCore

/// The options in the path of a thumbnail, in any order: `400x300,cover,webp,q=70`.
///
///     400x300, 400, 400x, x300              the box, in CSS pixels; one number is a square
///     contain, cover, fill, fit=auto        how the image is fitted into it; contain by default
///     centre, attention, entropy, north, …  what cover keeps
///     auto, jpeg, png, webp, avif           the format; auto, the default, goes by the request's Accept
///     q=70 or quality=70                    1 to 100
///     dpr=2                                 device pixels a CSS pixel
///     background=ffffff                     what is behind transparent parts
///     enlarge                               images smaller than the box are enlarged
///     crop=300x200+10+20 or crop=300x200    the part of the image that is used, in its pixels
///     focus=0.3:0.7                         the point that cover keeps, in shares of the sides
///     NAME                                  a preset of the configuration: all of its options
package struct VariantPath: Sendable, Equatable {
  private static let densities = 0.1...8.0
  private static let longestQuotation = 40

  private(set) var size: TargetSize?
  private(set) var fit: Fit?
  private(set) var gravity = Gravity.centre
  /// Nil: as the client accepts it.
  private(set) var format: OutputFormat?
  private(set) var quality = 80
  private(set) var density = 1.0
  private(set) var background: RGBColor?
  private(set) var enlarges = false
  private var framing = Framing()

  /// Parses options.
  ///
  /// - Parameter presets: The options of each name; they may not name others.
  package init(parsing text: some StringProtocol, presets: [String: String] = [:]) throws(InvalidValue) {
    try read(text, presets)
    guard size != nil else {
      throw InvalidValue("write the size of the thumbnail, such as 400x300, or 400 for a square box")
    }
  }

  private mutating func read(_ text: some StringProtocol, _ presets: [String: String]) throws(InvalidValue) {
    for option in text.split(separator: ",", omittingEmptySubsequences: false) {
      let option = String(option)
      if let preset = presets[option] { try read(preset, [:]) } else { try read(option: option) }
    }
  }

  private mutating func read(option: String) throws(InvalidValue) {
    let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
    if ["rotate", "flip", "extend", "pad"].contains(parts[0]) {
      throw InvalidValue(
        "“\(parts[0])” is no longer an option: leave it out, and let the page turn or pad the image")
    }
    if parts.count == 2 { return try read(parts[0], parts[1]) }
    if let size = TargetSize(parsing: option) {
      self.size = size
    } else if let fit = Fit(rawValue: option), fit != .auto {
      self.fit = fit
    } else if let gravity = Gravity(rawValue: option) {
      self.gravity = gravity
    } else if option == "enlarge" {
      enlarges = true
    } else if let format = OutputFormat(browsersKnow: option) {
      self.format = format == .auto ? nil : format
    } else {
      let name = option.prefix(Self.longestQuotation)
      throw InvalidValue("“\(name)” is no option of a thumbnail and no preset; /help has them all")
    }
  }

  private mutating func read(_ name: String, _ value: String) throws(InvalidValue) {
    switch name {
    case "size": size = try Self.need(TargetSize(parsing: value), "a size such as 400x300")
    case "fit": fit = try Self.need(Fit(rawValue: value), "fit=contain, cover, fill or auto")
    case "gravity": gravity = try Self.need(Gravity(rawValue: value), "gravity=centre, attention or entropy")
    case "format":
      let named = try Self.need(OutputFormat(browsersKnow: value), "format=auto, jpeg, png, webp or avif")
      format = named == .auto ? nil : named
    case "q", "quality":
      let number = Int(value).flatMap { (1...100).contains($0) ? $0 : nil }
      quality = try Self.need(number, "a quality from 1 to 100")
    // Earlier versions read the client's hints.
    case "width" where value == "auto", "dpr" where value == "auto": break
    case "dpr":
      let number = Double(value).flatMap { Self.densities.contains($0) ? $0 : nil }
      density = try Self.need(number, "a dpr from 0.1 to 8")
    case "background": background = try Self.need(RGBColor(hex: value), "a background such as ffffff")
    case "crop": framing.crop = try Self.need(Framing.Crop(parsing: value), "a part such as crop=300x200+10+20")
    case "focus":
      let shares = value.split(separator: ":").compactMap { Double($0) }
      let focus = shares.count == 2 ? Framing.Focus(x: shares[0], y: shares[1]) : nil
      framing.focus = try Self.need(focus, "a point such as focus=0.3:0.7")
    default:
      throw InvalidValue("there is no option “\(name.prefix(Self.longestQuotation))”; /help has them all")
    }
  }

  private static func need<Value>(_ value: Value?, _ advice: String) throws(InvalidValue) -> Value {
    if let value { return value }
    throw InvalidValue("write \(advice)")
  }

  /// The variant.
  ///
  /// - Parameter accepted: The format that the client prefers if the options leave it open.
  package func variant(accepted: OutputFormat) -> Variant {
    let box = size?.box ?? PixelSize(1, 1)
    let longest = PixelSize.longestThumbnailSide
    func scaled(_ side: Int) -> Int {
      side == longest ? longest : min(longest, max(1, Int((Double(side) * density).rounded())))
    }
    return Variant(
      size: PixelSize(scaled(box.width), scaled(box.height)), fit: fit ?? .contain, gravity: gravity,
      format: format ?? accepted, quality: quality, background: background, enlarges: enlarges, framing: framing)
  }
}

extension OutputFormat {
  /// A format that browsers show, or `auto`, by its name.
  init?(browsersKnow name: String) {
    self.init(rawValue: name == "jpg" ? "jpeg" : name)
    if self == .jxl || self == .same { return nil }
  }
}
