import Foundation
import ThumbnailCore

/// The request of a client of imaginary as one variant. imaginary's documentation lists the operations and their
/// parameters.
///
/// Images are always turned upright, and never keep metadata, so `autorotate` and `stripmeta` change nothing.
/// Operations that cannot be carried out exactly, such as `blur` or `watermark`, are errors.
struct ImaginaryRequest: Sendable {
  typealias Problem = OptionProblem
  typealias Parameters = ImaginaryParameters

  private var size = PixelSize(0, 0)
  private var fit = Fit.contain
  private var gravity = Gravity.centre
  private var format = OutputFormat.same
  private var quality = 80
  private var enlarges = false
  private var background: RGBColor?
  private var framing = Framing()
  /// Whether the client's `Accept` decides about the format.
  private(set) var isNegotiated = false
  /// The operation that has cropped or resized. No other one may follow.
  private var last: String?
  private var isUpright = false

  /// The operations of imaginary that are not carried out.
  static let refused: Set<Substring> = ["zoom", "watermark", "watermarkimage", "blur"]

  /// One operation with its parameters: `/fit?width=300&height=200`.
  ///
  /// - Parameter accept: The types that the client accepts, in its order.
  init(operation: some StringProtocol, parameters: [String: String], accept: String = "") throws(Problem) {
    let parameters = try Parameters(parameters.mapValues { .text($0) })
    isNegotiated = parameters.type == "auto"
    try readType(parameters, of: String(operation), accept: accept)
    try apply(String(operation), parameters)
    if let problem = variant.problem { throw Problem(message: problem) }
  }

  /// Several operations in JSON: `[{"operation": "fit", "params": {"width": 300, "height": 200}}]`.
  init(pipeline json: String) throws(Problem) {
    guard let steps = try? JSONDecoder().decode([Step].self, from: Data(json.utf8)), !steps.isEmpty else {
      throw Problem(message: "operations must be a JSON array of objects with operation, params and ignore_failure")
    }
    guard steps.count <= Self.mostSteps else { throw Problem(message: "at most \(Self.mostSteps) operations") }
    for step in steps {
      let parameters = try Parameters(step.params ?? [:])
      let problem = Self.missing(step.operation, parameters)
      if step.ignore_failure == true {
        if step.operation == "extract" { throw Problem(message: "ignore_failure of extract is not supported") }
        if problem != nil { continue }
      }
      try readType(parameters, of: step.operation)
      try apply(step.operation, parameters)
    }
    if let problem = variant.problem { throw Problem(message: problem) }
  }

  /// As imaginary has it.
  private static let mostSteps = 10

  private struct Step: Decodable {
    let operation: String
    let params: [String: Parameters.Value]?
    let ignore_failure: Bool?

    private enum Key: String, CodingKey, CaseIterable { case operation, params, ignore_failure }

    private struct AnyKey: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    /// Other fields are errors, as in imaginary.
    init(from decoder: any Decoder) throws {
      for key in try decoder.container(keyedBy: AnyKey.self).allKeys where Key(rawValue: key.stringValue) == nil {
        throw DecodingError.dataCorrupted(.init(codingPath: [key], debugDescription: "an unknown field"))
      }
      let fields = try decoder.container(keyedBy: Key.self)
      operation = try fields.decode(String.self, forKey: .operation)
      params = try fields.decodeIfPresent([String: Parameters.Value].self, forKey: .params)
      ignore_failure = try fields.decodeIfPresent(Bool.self, forKey: .ignore_failure)
    }
  }

  private mutating func readType(_ parameters: Parameters, of operation: String, accept: String = "") throws(Problem) {
    guard operation != "autorotate", var type = parameters.type?.lowercased(), !type.isEmpty else { return }
    if type == "auto" {
      let known = accept.split(separator: ",").compactMap { field in
        Self.negotiated[field.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()]
      }
      guard let first = known.first else { return }
      type = first
    }
    guard let named = OutputFormat(browsersKnow: type), named != .auto else {
      throw Problem(message: "Unsupported output image format \(type.prefix(10))")
    }
    format = named
  }

  private static let negotiated = ["image/webp": "webp", "image/png": "png", "image/jpeg": "jpeg"]

  /// The missing parameter of an operation; nil if it can be carried out.
  private static func missing(_ operation: String, _ parameters: Parameters) -> Problem? {
    let (hasWidth, hasHeight) = (parameters.width > 0, parameters.height > 0)
    let lack: String? =
      switch operation {
      case "fit", "enlarge": hasWidth && hasHeight ? nil : "height, width"
      case "resize", "crop", "smartcrop", "thumbnail": hasWidth || hasHeight ? nil : "height or width"
      case "extract": parameters.areaWidth > 0 && parameters.areaHeight > 0 ? nil : "areawidth or areaheight"
      case "rotate": parameters.rotate > 0 ? nil : "rotate"
      case "convert": parameters.type?.isEmpty == false ? nil : "type"
      default: nil
      }
    return lack.map { Problem(message: "Missing required param: \($0)") }
  }

  private mutating func apply(_ operation: String, _ parameters: Parameters) throws(Problem) {
    guard ImaginaryRoutes.operations.contains(Substring(operation)), !Self.refused.contains(Substring(operation)) else {
      throw Problem(message: "operation \(operation.prefix(20)) is not supported")
    }
    if let problem = Self.missing(operation, parameters) { throw problem }
    if operation == "autorotate" { isUpright = true }
    if operation == "autorotate" || operation == "info" { return }
    if parameters.norotation, !isUpright { framing.needsUpright = true }
    isUpright = true
    quality = parameters.quality
    background = parameters.background ?? background
    try turn(operation, parameters)
    if operation == "extract" { return try extract(parameters) }
    guard parameters.width > 0 || parameters.height > 0 else { return }
    try begin(operation)
    try resize(operation, parameters)
  }

  private mutating func turn(_ operation: String, _ parameters: Parameters) throws(Problem) {
    let turn = Orientation(
      degrees: parameters.rotate, flipsAcross: parameters.flip || operation == "flip",
      flipsDown: parameters.flop || operation == "flop")
    guard turn.exif != 1 else { return }
    if operation == "fit", parameters.rotate > 0 { throw Problem(message: "rotate is not supported by fit") }
    if let last { throw Problem(message: "\(operation) is not supported after \(last): send it before") }
    framing.turn = framing.turn.then(turn)
  }

  private mutating func begin(_ operation: String) throws(Problem) {
    if let last { throw Problem(message: "\(operation) is not supported after \(last): send it alone") }
    last = operation
  }

  private mutating func extract(_ parameters: Parameters) throws(Problem) {
    guard parameters.width == 0, parameters.height == 0, parameters.gravity != .attention, !parameters.embed else {
      throw Problem(message: "extract is not supported with width, height, embed or gravity=smart")
    }
    // A part of the image can be resized afterwards.
    guard framing.crop == nil, last == nil else {
      throw Problem(message: "extract is not supported after another crop")
    }
    framing.crop = Framing.Crop(
      x: parameters.left, y: parameters.top, size: PixelSize(parameters.areaWidth, parameters.areaHeight))
  }

  /// Resizes as bimg does with the operation's parameters.
  private mutating func resize(_ operation: String, _ parameters: Parameters) throws(Problem) {
    let (width, height) = (parameters.width, parameters.height)
    let isBox = width > 0 && height > 0
    let isSmart = operation == "smartcrop" || parameters.gravity == .attention
    let crops =
      switch operation {
      case "crop", "smartcrop": true
      case "enlarge": !(parameters.nocrop ?? false)
      case "resize": !(parameters.nocrop ?? true)
      default: false
      }
    let embeds = parameters.embed || operation == "resize" || operation == "fit"
    let isFree = !crops && !embeds && operation != "enlarge" && parameters.rotate == 0
    size = PixelSize(width, height)
    if parameters.force || isFree {
      guard operation != "fit", isBox || !crops else {
        throw Problem(message: "force is not supported by \(operation)")
      }
      (fit, enlarges) = (isBox ? .fill : .contain, true)
    } else if crops, isBox {
      (fit, gravity, enlarges) = (.cover, isSmart ? .attention : parameters.gravity, operation == "enlarge")
      framing.shortfall = .enlargesUnlessBoth
    } else if crops {
      guard framing.crop == nil else {
        throw Problem(message: "\(operation) with one side is not supported after extract")
      }
      // A side that is not given is the image's and keeps its length.
      framing.crop = Framing.Crop(
        width: Double(width), height: Double(height), placement: .gravity(isSmart ? .attention : parameters.gravity))
      size = PixelSize(0, 0)
    } else if embeds, isBox, operation != "fit", !isSmart {
      framing.shortfall = .enlargesUnlessBoth
      framing.canvas = Framing.Canvas()
      framing.filling =
        switch parameters.extend {
        case "white": .colour(.white)
        case "black": .black
        case "copy": .edge
        case "background", "lastpixel": parameters.background.map { .colour($0) } ?? .black
        default: .mirror
        }
    } else {
      enlarges = operation == "enlarge"
    }
  }

  var variant: Variant {
    let longest = PixelSize.longestThumbnailSide
    // Transparent pixels are black in a JPEG.
    let ground = background ?? (format == .jpeg ? RGBColor(red: 0, green: 0, blue: 0) : nil)
    return Variant(
      size: PixelSize(size.width == 0 ? longest : size.width, size.height == 0 ? longest : size.height), fit: fit,
      gravity: gravity, format: format, quality: quality, background: ground, enlarges: enlarges, framing: framing)
  }
}
