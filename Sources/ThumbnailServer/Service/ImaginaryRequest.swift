import Foundation
import ThumbnailCore

/// What a client of imaginary asks for, as one variant: its documentation lists the operations and their parameters.
///
/// Images are always turned upright, and never keep metadata, so `autorotate`, `norotation` and `stripmeta` change
/// nothing. What cannot be done with one variant, such as `blur` or `watermark`, is an error.
struct ImaginaryRequest: Sendable, Equatable {
  typealias Problem = OptionProblem

  private(set) var width: Int?
  private(set) var height: Int?
  private(set) var fit = Fit.contain
  private(set) var gravity = Gravity.centre
  private(set) var format = OutputFormat.same
  private(set) var quality = 80
  private(set) var enlarges = false
  private(set) var background: RGBColor?

  /// One operation with its parameters: `/fit?width=300&height=200`.
  init(operation: some StringProtocol, parameters: [String: String]) throws(Problem) {
    try apply(String(operation), parameters)
  }

  /// Several operations in JSON: `[{"operation": "fit", "params": {"width": 300}}]`.
  init(pipeline json: String) throws(Problem) {
    guard let steps = try? JSONDecoder().decode([Step].self, from: Data(json.utf8)), !steps.isEmpty else {
      throw Problem(message: "operations must be a JSON array of objects with operation and params")
    }
    guard steps.count <= Self.mostSteps else { throw Problem(message: "at most \(Self.mostSteps) operations") }
    for step in steps {
      if step.ignore_failure == true { throw Problem(message: "ignore_failure is not supported") }
      try apply(step.operation, step.params?.mapValues(\.text) ?? [:])
    }
  }

  /// As imaginary has it.
  private static let mostSteps = 10

  private struct Step: Decodable {
    let operation: String
    let params: [String: Parameter]?
    let ignore_failure: Bool?
  }

  /// A value that clients write as a string, a number or a Boolean.
  private struct Parameter: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let number = try? value.decode(Int.self) {
        text = "\(number)"
      } else if let flag = try? value.decode(Bool.self) {
        text = "\(flag)"
      } else if let number = try? value.decode(Double.self) {
        text = "\(Int(number.isFinite ? max(0, min(number, 1e6)) : 0))"
      } else {
        text = try value.decode(String.self)
      }
    }
  }

  private mutating func apply(_ operation: String, _ parameters: [String: String]) throws(Problem) {
    try readCommon(parameters)
    let crops = parameters["nocrop"] == "false"
    switch operation {
    case "autorotate", "convert", "info": return
    case "fit", "thumbnail": fit = .contain
    case "resize": fit = parameters["force"] == "true" ? .fill : crops ? .cover : .contain
    case "enlarge": (fit, enlarges) = (crops ? .cover : .contain, true)
    case "crop": fit = .cover
    case "smartcrop": (fit, gravity) = (.cover, .attention)
    default: throw Problem(message: "operation \(operation.prefix(20)) is not supported")
    }
    guard width != nil || height != nil else { throw Problem(message: "missing required param: height or width") }
    let needsBoth = ["fit", "enlarge"].contains(operation) || fit == .cover
    if needsBoth, width == nil || height == nil { throw Problem(message: "missing required params: height, width") }
  }

  private mutating func readCommon(_ parameters: [String: String]) throws(Problem) {
    for (name, value) in parameters {
      switch name {
      case "width": width = try Self.side(value) ?? width
      case "height": height = try Self.side(value) ?? height
      case "type": format = try Self.format(value)
      case "quality":
        guard let number = Int(value), (0...100).contains(number) else { throw Problem(message: "invalid quality") }
        // 0 stands for the default.
        quality = number == 0 ? 80 : number
      case "gravity": gravity = Self.gravities[value] ?? .centre
      case "background": background = RGBColor(channels: value.split(separator: ","))
      case "rotate", "sigma", "minampl", "aspectratio":
        if !["", "0"].contains(value) { throw Problem(message: "\(name) is not supported") }
      case "flip", "flop", "palette":
        if value == "true" { throw Problem(message: "\(name) is not supported") }
      case "colorspace":
        if value == "bw" { throw Problem(message: "colorspace=bw is not supported") }
      default: break
      }
    }
  }

  private static let gravities: [String: Gravity] = [
    "centre": .centre, "center": .centre, "north": .north, "south": .south, "east": .east, "west": .west,
    "smart": .attention,
  ]

  /// A side in pixels; nil for 0, which leaves it open.
  private static func side(_ text: String) throws(Problem) -> Int? {
    guard let side = Int(text), (0...PixelSize.longestThumbnailSide).contains(side) else {
      throw Problem(message: "invalid width or height")
    }
    return side == 0 ? nil : side
  }

  private static func format(_ text: String) throws(Problem) -> OutputFormat {
    if let format = OutputFormat(browsersKnow: text), format != .auto { return format }
    throw Problem(message: "output type \(text.prefix(10)) is not supported")
  }

  var variant: Variant {
    let longest = PixelSize.longestThumbnailSide
    return Variant(
      size: PixelSize(width ?? longest, height ?? longest),
      // Nothing can be filled where a side is open.
      fit: width == nil || height == nil ? .contain : fit, gravity: gravity, format: format, quality: quality,
      background: background, enlarges: enlarges)
  }
}
