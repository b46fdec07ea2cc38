import Foundation
import NIOHTTP1
import ThumbnailCore

/// An address as clients of imgproxy build it: `/SIGNATURE/rs:fit:300:200/q:70/plain/https%3A%2F%2F…@webp`, or with the
/// source in Base64 for URLs. Its documentation lists the options; those that one variant cannot express are errors.
struct ImgproxyRequest: Sendable, Equatable {
  typealias Problem = OptionProblem

  let signature: String
  /// What the signature is of.
  let signed: String
  private(set) var source = ""
  private(set) var width = 0
  private(set) var height = 0
  private(set) var fit = Fit.contain
  private(set) var gravity = Gravity.centre
  /// Nil: as the client accepts it.
  private(set) var format: OutputFormat?
  private(set) var quality = 80
  private(set) var density = 1.0
  private(set) var enlarges = false
  private(set) var background: RGBColor?
  /// Until when the address is good, in seconds since 1970.
  private(set) var expires: Int?

  /// Parses a path without imgproxy's prefix, still percent-encoded.
  init(path: Substring) throws(Problem) {
    // Empty parts count: a plain source has them, and so has what is signed.
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
      try read(values[0], values.dropFirst().map { String($0) })
    }
    let plain = "plain/"
    if rest.hasPrefix(plain) { try readPlain(String(rest.dropFirst(plain.count))) } else { try readBase64(rest) }
  }

  private mutating func readPlain(_ text: String) throws(Problem) {
    var text = text
    if let at = text.lastIndex(of: "@") {
      try readFormat(String(text[text.index(after: at)...]))
      text = String(text[..<at])
    }
    guard let plain = text.removingPercentEncoding, !plain.isEmpty else { throw Problem(message: "Invalid source URL") }
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

  private mutating func read(_ name: Substring, _ values: [String]) throws(Problem) {
    switch name {
    case "rs", "resize":
      try readResizing(values.first)
      try readSize(Array(values.dropFirst()))
    case "s", "size": try readSize(values)
    case "rt", "resizing_type": try readResizing(values.first)
    case "w", "width": width = try Self.side(values.first)
    case "h", "height": height = try Self.side(values.first)
    case "q", "quality": quality = try Self.quality(values.first)
    case "f", "format", "ext": try readFormat(values.first ?? "")
    case "g", "gravity": try readGravity(values)
    case "dpr": density = try Self.density(values.first)
    case "el", "enlarge": enlarges = Self.flag(values.first)
    case "bg", "background": try readBackground(values)
    case "exp", "expires":
      guard let time = values.first.flatMap({ Int($0) }) else { throw Problem(message: "Invalid expires") }
      expires = time
    case "ar", "auto_rotate":
      guard Self.flag(values.first) else { throw Problem(message: "Pictures are always turned upright") }
    case "raw":
      if Self.flag(values.first) { throw Problem(message: "The original of a picture is not served") }
    // Thumbnails are without metadata and in sRGB as they are.
    case "sm", "strip_metadata", "scp", "strip_color_profile", "kcr", "keep_copyright", "cb", "cachebuster", "fn",
      "filename":
      break
    default: throw Problem(message: "Unknown processing option \(name.prefix(20))")
    }
  }

  private mutating func readResizing(_ text: String?) throws(Problem) {
    switch text {
    case "fit", "", nil: fit = .contain
    case "fill", "fill-down": fit = .cover
    case "force": fit = .fill
    default: throw Problem(message: "Unsupported resizing type")
    }
  }

  private mutating func readSize(_ values: [String]) throws(Problem) {
    width = try Self.side(values.first)
    if values.count > 1 { height = try Self.side(values[1]) }
    if values.count > 2 { enlarges = Self.flag(values[2]) }
    if values.count > 3, Self.flag(values[3]) { throw Problem(message: "Pictures are not extended") }
  }

  private mutating func readGravity(_ values: [String]) throws(Problem) {
    let gravities: [String: Gravity] = [
      "ce": .centre, "no": .north, "so": .south, "ea": .east, "we": .west, "sm": .attention,
    ]
    guard let gravity = values.first.flatMap({ gravities[$0] }), values.dropFirst().allSatisfy({ Double($0) == 0 })
    else { throw Problem(message: "Unsupported gravity") }
    self.gravity = gravity
  }

  private mutating func readFormat(_ text: String) throws(Problem) {
    if text.isEmpty { return }
    guard let named = OutputFormat(browsersKnow: text), named != .auto else {
      throw Problem(message: "Unsupported image format \(text.prefix(10))")
    }
    format = named
  }

  private mutating func readBackground(_ values: [String]) throws(Problem) {
    background = values.count == 1 ? RGBColor(hex: values[0]) : RGBColor(channels: values)
    guard background != nil else { throw Problem(message: "Invalid background") }
  }

  private static func side(_ text: String?) throws(Problem) -> Int {
    guard let text, !text.isEmpty else { return 0 }
    guard let side = Int(text), (0...PixelSize.longestThumbnailSide).contains(side) else {
      throw Problem(message: "Invalid width or height")
    }
    return side
  }

  private static func quality(_ text: String?) throws(Problem) -> Int {
    guard let number = text.flatMap({ Int($0) }), (0...100).contains(number) else {
      throw Problem(message: "Invalid quality")
    }
    return number == 0 ? 80 : number
  }

  private static func density(_ text: String?) throws(Problem) -> Double {
    guard let number = text.flatMap({ Double($0) }), number > 0, number <= 8 else {
      throw Problem(message: "Invalid dpr")
    }
    return number
  }

  private static func flag(_ text: String?) -> Bool { ["1", "t", "true"].contains(text) }

  /// - Parameter accepted: The format where the address names none.
  func variant(accepted: OutputFormat) -> Variant {
    let longest = PixelSize.longestThumbnailSide
    func side(_ length: Int) -> Int {
      length == 0 ? longest : min(longest, max(1, Int((Double(length) * density).rounded())))
    }
    return Variant(
      size: PixelSize(side(width), side(height)), fit: width == 0 || height == 0 ? .contain : fit, gravity: gravity,
      format: format ?? accepted, quality: quality, background: background,
      enlarges: enlarges && (width, height) != (0, 0))
  }
}

/// The secret that signs imgproxy's addresses.
package struct ImgproxyKey: Sendable, Equatable {
  private let key: [UInt8]
  private let salt: [UInt8]

  /// From key and salt in hexadecimal digits, as `IMGPROXY_KEY` and `IMGPROXY_SALT` hold them. Nil for anything else.
  package init?(key: String, salt: String) {
    guard let key = Hexadecimal.bytes(key), let salt = Hexadecimal.bytes(salt), !key.isEmpty else { return nil }
    (self.key, self.salt) = (key, salt)
  }

  /// Whether the signature is that of the path.
  func accepts(_ request: ImgproxyRequest) -> Bool {
    Token.areEqual(request.signature, Base64URL.encode(HMAC.sha256(salt + Array(request.signed.utf8), key: key)))
  }
}
