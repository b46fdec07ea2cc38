import ThumbnailCore

/// The parameters of one operation of imaginary, from its documentation, without those for text and other images, and
/// without those that change no pixels.
struct ImaginaryParameters: Sendable {
  typealias Problem = OptionProblem

  /// A value that clients write as a text, a number or a Boolean.
  enum Value: Sendable, Decodable {
    case text(String)
    case number(Double)
    case flag(Bool)

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let flag = try? value.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? value.decode(Double.self) {
        self = .number(number)
      } else {
        self = .text(try value.decode(String.self))
      }
    }
  }

  /// The box; 0 is open.
  private(set) var (width, height) = (0, 0)
  private(set) var (left, top, areaWidth, areaHeight) = (0, 0, 0, 0)
  private(set) var rotate = 0
  private(set) var (flip, flop, force, embed, norotation) = (false, false, false, false, false)
  /// Nil: as the operation has it.
  private(set) var nocrop: Bool?
  private(set) var gravity = Gravity.centre
  private(set) var background: RGBColor?
  private(set) var extend = "copy"
  private(set) var quality = 80
  private(set) var type: String?
  private var aspect = ""

  init(_ values: [String: Value]) throws(Problem) {
    for (name, value) in values { try read(name, value) }
    if (width == 0) != (height == 0), !aspect.isEmpty { try completeByAspect() }
    guard width <= PixelSize.longestThumbnailSide, height <= PixelSize.longestThumbnailSide else {
      throw Problem(message: "width and height are at most \(PixelSize.longestThumbnailSide)")
    }
  }

  private mutating func read(_ name: String, _ value: Value) throws(Problem) {
    func integer() throws(Problem) -> Int { try value.integer(name) }
    func flag() throws(Problem) -> Bool { try value.flag(name) }
    func refuse(if isRefused: Bool) throws(Problem) {
      if isRefused { throw Problem(message: "\(name) is not supported") }
    }
    switch name {
    case "width": width = try integer()
    case "height": height = try integer()
    case "left": left = try integer()
    case "top": top = try integer()
    case "areawidth": areaWidth = try integer()
    case "areaheight": areaHeight = try integer()
    case "rotate":
      // Other numbers than multiples of 90 are rounded down.
      rotate = min(270, try integer() / 90 * 90)
    case "flip": flip = try flag()
    case "flop": flop = try flag()
    case "force": force = try flag()
    case "embed": embed = try flag()
    case "norotation": norotation = try flag()
    case "nocrop": nocrop = try flag()
    case "gravity": gravity = Self.gravities[try value.text(name).lowercased()] ?? .centre
    case "extend": extend = try value.text(name).lowercased()
    case "background": background = try Self.colour(try value.text(name))
    case "quality":
      let number = try integer()
      guard number <= 100 else { throw Problem(message: "quality is at most 100") }
      // 0 means the default.
      quality = number == 0 ? 80 : number
    case "type": type = try value.text(name)
    case "aspectratio": aspect = try value.text(name)
    case "sigma", "minampl": try refuse(if: try value.number(name) > 0)
    case "palette": try refuse(if: try flag())
    case "colorspace": try refuse(if: try value.text(name) == "bw")
    default: break
    }
  }

  /// The other side by the ratio, in whole numbers.
  private mutating func completeByAspect() throws(Problem) {
    let parts = aspect.split(separator: ":").map { Int($0.filter { $0 != " " }) ?? 0 }
    guard parts.count >= 2, parts.prefix(2).allSatisfy({ (1...1_000_000).contains($0) }) else {
      throw Problem(message: "write aspectratio as 16:9")
    }
    if width > 0 { height = width / parts[0] * parts[1] } else { width = height / parts[1] * parts[0] }
  }

  /// Red, green and blue; nil for black, which means none.
  private static func colour(_ text: String) throws(Problem) -> RGBColor? {
    if text.isEmpty { return nil }
    let channels = text.split(separator: ",").map { UInt8(clamping: Int($0.filter { $0 != " " }) ?? 0) }
    guard channels.count >= 3 else { throw Problem(message: "write background as 255,200,150") }
    return channels.prefix(3).allSatisfy { $0 == 0 }
      ? nil : RGBColor(red: channels[0], green: channels[1], blue: channels[2])
  }

  private static let gravities: [String: Gravity] = [
    "north": .north, "south": .south, "east": .east, "west": .west, "smart": .attention,
  ]
}

extension ImaginaryParameters.Value {
  typealias Problem = OptionProblem

  fileprivate func number(_ name: String) throws(Problem) -> Double {
    switch self {
    case .number(let number) where number.isFinite: return number
    case .text(""): return 0
    case .text(let text):
      if let number = Double(text), number.isFinite { return abs(number) }
    default: break
    }
    throw Problem(message: "\(name) is no number")
  }

  /// A text is rounded, a number of JSON cut off, as imaginary does.
  fileprivate func integer(_ name: String) throws(Problem) -> Int {
    let number = try number(name)
    guard (0...1e6).contains(number) else { throw Problem(message: "\(name) cannot be used: give 0 to 1000000") }
    if case .text = self { return Int((number + 0.5).rounded(.down)) }
    return Int(number)
  }

  fileprivate func flag(_ name: String) throws(Problem) -> Bool {
    switch self {
    case .flag(let flag): return flag
    case .text("1"), .text("t"), .text("T"), .text("TRUE"), .text("true"), .text("True"): return true
    case .text(""), .text("0"), .text("f"), .text("F"), .text("FALSE"), .text("false"), .text("False"): return false
    default: throw Problem(message: "\(name) is neither true nor false")
    }
  }

  fileprivate func text(_ name: String) throws(Problem) -> String {
    if case .text(let text) = self { return text }
    throw Problem(message: "\(name) is no text")
  }
}
