import Foundation
import NIOHTTP1
import ThumbnailCore

/// An address as clients of imgproxy build it: `/SIGNATURE/rs:fit:300:200/q:70/plain/https%3A%2F%2F…@webp`, or with the
/// source in Base64 for URLs. imgproxy's documentation lists the options; options that cannot be carried out exactly
/// are errors.
struct ImgproxyRequest: Sendable {
  typealias Problem = OptionProblem

  let signature: String
  /// The signed text.
  let signed: String
  private(set) var source = ""
  /// 0: open.
  private var (width, height) = (0, 0)
  private var resizing = "fit"
  private var gravity = Placement.gravity(.centre)
  private var crop: (width: Double, height: Double, placement: Placement?)?
  private var framing = Framing()
  private var (angle, flipsAcross, flipsDown) = (0, false, false)
  private var (extends, extendsShape) = (Placement?.none, Placement?.none)
  /// Nil: as the client accepts it.
  private(set) var format: OutputFormat?
  private var quality = 80
  private var enlarges = false
  private(set) var background: RGBColor?
  /// Until when the address is good, in seconds since 1970.
  private(set) var expires: Int?

  /// Parses a path without imgproxy's prefix, still percent-encoded.
  init(path: Substring) throws(Problem) {
    // Empty parts count: a plain source and the signed text contain them.
    var rest = path.drop { $0 == "/" }
    signature = String(rest.prefix { $0 != "/" })
    rest = rest.dropFirst(signature.count)
    signed = String(rest)
    guard !signature.isEmpty, rest.count > 1 else { throw Problem(message: "Invalid path") }
    rest = rest.dropFirst()
    while true {
      let option = rest.prefix { $0 != "/" }
      guard option != "plain", option.contains(":") else { break }
      rest = rest.dropFirst(option.count + 1)
      let values = option.split(separator: ":", omittingEmptySubsequences: false)
      try read(String(values[0]), values.dropFirst().map { String($0) })
    }
    let plain = "plain/"
    if rest.hasPrefix(plain) { try readPlain(String(rest.dropFirst(plain.count))) } else { try readBase64(rest) }
    if let problem = variant(accepted: .auto).problem { throw Problem(message: problem) }
  }

  private mutating func readPlain(_ text: String) throws(Problem) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count < 3 else { throw Problem(message: "Multiple formats are specified") }
    if parts.count == 2 { try readFormat(String(parts[1])) }
    guard let plain = parts[0].removingPercentEncoding, !plain.isEmpty else {
      throw Problem(message: "Invalid source URL")
    }
    source = plain
  }

  private mutating func readBase64(_ encoded: Substring) throws(Problem) {
    // Slashes may break up a long text.
    var text = encoded.filter { $0 != "/" }
    if let dot = text.lastIndex(of: ".") {
      try readFormat(String(text[text.index(after: dot)...]))
      text = String(text[..<dot])
    }
    guard let bytes = Base64URL.decode(text), let plain = String(validating: bytes, as: UTF8.self), !plain.isEmpty
    else { throw Problem(message: "Invalid source URL") }
    source = plain
  }

  /// Reads an option by its long or short name.
  private mutating func read(_ name: String, _ values: [String]) throws(Problem) {
    if try readSizing(name, values) { return }
    if try readOutline(name, values) { return }
    try readOutput(name, values)
  }

  /// Reads an option of the thumbnail's size. Returns false for another option.
  private mutating func readSizing(_ name: String, _ values: [String]) throws(Problem) -> Bool {
    switch name {
    case "rs", "resize":
      guard values.count <= 8 else { throw Self.invalid(name, values) }
      if !values[0].isEmpty { try readResizing(values[0]) }
      try readSize(name, Array(values.dropFirst()))
    case "s", "size": try readSize(name, values)
    case "rt", "resizing_type": try readResizing(Self.only(name, values))
    case "w", "width": width = try Self.side(name, values)
    case "h", "height": height = try Self.side(name, values)
    case "mw", "min-width": framing.minimum.width = try Self.side(name, values)
    case "mh", "min-height": framing.minimum.height = try Self.side(name, values)
    case "z", "zoom":
      guard values.count <= 2 else { throw Self.invalid(name, values) }
      let factors = try values.map { value throws(Problem) in try Self.factor(name, value) }
      framing.zoom = Framing.Scale(factors[0], factors.last ?? 1)
    case "dpr": framing.density = try Self.factor(name, Self.only(name, values))
    case "el", "enlarge": enlarges = try Self.flag(Self.only(name, values))
    default: return false
    }
    return true
  }

  /// Reads an option of the thumbnail's outline: crop, turn, canvas. Returns false for another option.
  private mutating func readOutline(_ name: String, _ values: [String]) throws(Problem) -> Bool {
    switch name {
    case "ex", "extend": extends = try Self.extension(name, values)
    case "exar", "extend_ar", "extend_aspect_ratio": extendsShape = try Self.extension(name, values)
    case "g", "gravity": gravity = try Self.gravity(name, values, after: gravity)
    case "c", "crop":
      let placement = values.count > 2 ? try Self.gravity(name, Array(values.dropFirst(2)), after: nil) : nil
      crop = (
        try Self.length(name, values[0]), values.count > 1 ? try Self.length(name, values[1]) : 0, placement
      )
    case "pd", "padding": try readPadding(name, values)
    case "rot", "rotate":
      guard let degrees = try Int(Self.only(name, values)), degrees % 90 == 0 else {
        throw Self.invalid(name, values)
      }
      angle = degrees
    case "fl", "flip":
      guard values.count <= 2 else { throw Self.invalid(name, values) }
      if !values[0].isEmpty { flipsAcross = Self.flag(values[0]) }
      if values.count > 1, !values[1].isEmpty { flipsDown = Self.flag(values[1]) }
    case "ar", "auto_rotate": try Self.refuse(name, values, if: !Self.flag(Self.only(name, values)))
    default: return false
    }
    return true
  }

  /// Reads an option of the file that is sent, or of the address.
  private mutating func readOutput(_ name: String, _ values: [String]) throws(Problem) {
    switch name {
    case "q", "quality":
      guard values.count == 1, let number = Int(values[0]), (0...100).contains(number) else {
        throw Self.invalid(name, values)
      }
      quality = number == 0 ? 80 : number
    case "f", "format", "ext": try readFormat(Self.only(name, values))
    case "bg", "background":
      background = values.count == 1 ? RGBColor(hex: values[0]) : RGBColor(channels: values)
      guard background != nil || values == [""] else { throw Self.invalid(name, values) }
    case "exp", "expires":
      guard values.count == 1, let time = Int(values[0]) else { throw Self.invalid(name, values) }
      expires = time > 0 ? time : nil
    case "raw", "att", "return_attachment", "ph", "preserve_hdr", "eth", "enforce_thumbnail":
      try Self.refuse(name, values, if: Self.flag(Self.only(name, values)))
    // Thumbnails are without metadata and in sRGB as they are; the others change no pixels.
    case "sm", "strip_metadata", "scp", "strip_color_profile", "kcr", "keep_copyright", "cb", "cachebuster", "fn",
      "filename":
      break
    default: throw Problem(message: "Processing option \(name.prefix(40)) is not supported")
    }
  }

  private mutating func readResizing(_ text: String) throws(Problem) {
    guard ["fit", "fill", "fill-down", "force", "auto"].contains(text) else {
      throw Self.invalid("resizing_type", [text])
    }
    resizing = text
  }

  private mutating func readSize(_ name: String, _ values: [String]) throws(Problem) {
    guard values.count <= 7 else { throw Self.invalid(name, values) }
    let isGiven = values.map { !$0.isEmpty } + [false, false, false, false]
    if isGiven[0] { width = try Self.side(name, [values[0]]) }
    if isGiven[1] { height = try Self.side(name, [values[1]]) }
    if isGiven[2] { enlarges = Self.flag(values[2]) }
    if isGiven[3] { extends = try Self.extension(name, Array(values[3...])) }
  }

  /// As in CSS, a side that is not given equals the opposite side, or the top.
  private mutating func readPadding(_ name: String, _ values: [String]) throws(Problem) {
    guard values.count <= 4 else { throw Self.invalid(name, values) }
    func side(_ index: Int, or other: Int) throws(Problem) -> Int {
      index < values.count && !values[index].isEmpty ? try Self.side(name, [values[index]]) : other
    }
    let top = try side(0, or: framing.padding.top)
    let right = try side(1, or: top)
    framing.padding = Framing.Padding(
      top: top, right: right, bottom: try side(2, or: top), left: try side(3, or: right))
  }

  private mutating func readFormat(_ text: String) throws(Problem) {
    if text.isEmpty { return }
    guard let named = OutputFormat(browsersKnow: text), named != .auto else {
      throw Problem(message: "Unsupported image format \(text.prefix(10))")
    }
    format = named
  }

  private static func refuse(_ name: String, _ values: [String], if isRefused: Bool) throws(Problem) {
    if isRefused { throw Problem(message: "Processing option \(name):\(values[0]) is not supported") }
  }

  /// The value of an option that has one.
  private static func only(_ name: String, _ values: [String]) throws(Problem) -> String {
    guard values.count == 1 else { throw invalid(name, values) }
    return values[0]
  }

  private static func invalid(_ name: String, _ values: [String]) -> Problem {
    Problem(message: "Invalid \(name): \(values.joined(separator: ":").prefix(40))")
  }

  private static let gravities: [String: Gravity] = [
    "ce": .centre, "no": .north, "so": .south, "ea": .east, "we": .west, "noea": .northeast, "nowe": .northwest,
    "soea": .southeast, "sowe": .southwest, "sm": .attention,
  ]

  /// A gravity with its offsets. Offsets that are not given stay as they are.
  private static func gravity(
    _ name: String, _ values: [String], after former: Placement?
  ) throws(Problem) -> Placement {
    func number(_ index: Int, _ former: Double) throws(Problem) -> Double {
      guard index < values.count, !values[index].isEmpty else { return former }
      guard let number = Double(values[index]), number.isFinite else { throw invalid(name, values) }
      return number
    }
    if values[0] == "fp", values.count == 3 {
      let (x, y) = (try number(1, 0), try number(2, 0))
      guard (0...1).contains(x), (0...1).contains(y) else { throw invalid(name, values) }
      return .focus(x: x, y: y)
    }
    guard let gravity = gravities[values[0]], values.count <= (gravity == .attention ? 1 : 3) else {
      throw invalid(name, values)
    }
    if gravity == .attention { return .gravity(.attention) }
    let kept: (x: Double, y: Double) = if case .gravity(_, let x, let y)? = former { (x, y) } else { (0, 0) }
    return .gravity(gravity, x: try number(1, kept.x), y: try number(2, kept.y))
  }

  /// The place of the image if it is extended; nil if it is not.
  private static func `extension`(_ name: String, _ values: [String]) throws(Problem) -> Placement? {
    let placement =
      values.count > 1 ? try gravity(name, Array(values.dropFirst()), after: nil) : .gravity(.centre)
    guard values.count <= 4, !placement.isByContent else { throw invalid(name, values) }
    return flag(values[0]) ? placement : nil
  }

  private static func side(_ name: String, _ values: [String]) throws(Problem) -> Int {
    guard values.count == 1, let side = Int(values[0]), (0...PixelSize.longestThumbnailSide).contains(side) else {
      throw invalid(name, values)
    }
    return side
  }

  private static func length(_ name: String, _ text: String) throws(Problem) -> Double {
    guard let length = Double(text), length >= 0, length.isFinite else { throw invalid(name, [text]) }
    return length
  }

  private static func factor(_ name: String, _ text: String) throws(Problem) -> Double {
    guard let factor = Double(text), factor > 0, factor <= 8 else { throw invalid(name, [text]) }
    return factor
  }

  private static func flag(_ text: String) -> Bool { ["1", "t", "T", "TRUE", "true", "True"].contains(text) }

  /// - Parameter accepted: The format if the address names none.
  func variant(accepted: OutputFormat) -> Variant {
    let longest = PixelSize.longestThumbnailSide
    var framing = framing
    framing.turn = Orientation(degrees: angle, flipsAcross: flipsAcross, flipsDown: flipsDown)
    framing.crop = crop.map { Framing.Crop(width: $0.width, height: $0.height, placement: $0.placement ?? gravity) }
    framing.canvas =
      extends.map { Framing.Canvas(.box, placement: $0) }
      ?? extendsShape.map { Framing.Canvas(.shape, placement: $0) }
    // An open side cannot be filled.
    let isOpen = width == 0 || height == 0
    let fit: Fit =
      switch resizing {
      case "force": .fill
      case "auto" where !isOpen: .auto
      case "fill" where !isOpen, "fill-down" where !isOpen: .cover
      default: .contain
      }
    if fit == .fill || fit == .auto || resizing == "fill" && fit == .cover { framing.shortfall = .cutsEachSide }
    let isCut = fit == .cover || fit == .auto || framing.minimum != PixelSize(0, 0)
    if isCut, gravity != .gravity(.centre) { framing.placement = gravity }

    // Sizes in device pixels need no density, so that such a thumbnail is stored once.
    var (size, density) = (PixelSize(width, height), framing.density)
    let device = [Double(width) * density, Double(height) * density]
    let isPlain = framing.minimum == PixelSize(0, 0) && framing.padding == Framing.Padding() && framing.canvas == nil
    if isPlain, framing.shortfall == .keepsShape, size != PixelSize(0, 0), framing.zoom == Framing.Scale(1, 1),
      device.allSatisfy({ $0 == $0.rounded() && $0 <= Double(longest) }), isCentred
    {
      (size, density) = (PixelSize(Int(device[0]), Int(device[1])), 1)
    }
    framing.density = density
    // A gravity without offsets becomes the variant's.
    var named = Gravity.centre
    if fit == .cover, case .gravity(let gravity, 0, 0)? = framing.placement {
      (named, framing.placement) = (gravity, nil)
    }
    return Variant(
      size: PixelSize(size.width == 0 ? longest : size.width, size.height == 0 ? longest : size.height), fit: fit,
      gravity: named, format: format ?? accepted, quality: quality, background: background,
      enlarges: enlarges && (size != PixelSize(0, 0) || framing != Framing()), framing: framing)
  }

  /// Whether no offset in pixels depends on the density.
  private var isCentred: Bool {
    if case .gravity(_, let x, let y) = gravity { abs(x) < 1 && abs(y) < 1 } else { true }
  }
}

/// The secrets that sign imgproxy's addresses.
package struct ImgproxyKey: Sendable, Equatable {
  private struct Pair: Equatable {
    let key: [UInt8]
    let salt: [UInt8]
  }

  /// Any of them is valid, so that a key can be replaced.
  private let pairs: [Pair]

  /// Parses key and salt in hexadecimal digits, as in `IMGPROXY_KEY` and `IMGPROXY_SALT`; or several of each, with
  /// commas. Nil for anything else.
  package init?(key: String, salt: String) {
    let keys = key.split(separator: ",", omittingEmptySubsequences: false).map { Hexadecimal.bytes($0) }
    let salts = salt.split(separator: ",", omittingEmptySubsequences: false).map { Hexadecimal.bytes($0) }
    let pairs = zip(keys, salts).compactMap { key, salt in
      key.flatMap { key in salt.flatMap { key.isEmpty ? nil : Pair(key: key, salt: $0) } }
    }
    guard keys.count == salts.count, pairs.count == keys.count else { return nil }
    self.pairs = pairs
  }

  /// Whether the signature matches the path.
  func accepts(_ request: ImgproxyRequest) -> Bool {
    pairs.contains { pair in
      Token.areEqual(
        request.signature, Base64URL.encode(HMAC.sha256(pair.salt + Array(request.signed.utf8), key: pair.key)))
    }
  }
}
