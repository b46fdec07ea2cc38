import Foundation
import ThumbnailCore

/// The thumbnail that Nextcloud's `lib/private/Preview/Imaginary.php` requests: imaginary's operations in JSON.
///
///     [{"operation": "autorotate"}, {"operation": "fit", "params": {"width": 256, "height": 256, "stripmeta": "true",
///       "type": "jpeg", "norotation": "true", "quality": "80"}}]
///
/// `smartcrop` in place of `fit` fills the box, and `convert` in place of `autorotate` states the type. Images are always
/// turned upright and never keep metadata, so `autorotate`, `norotation` and `stripmeta` change nothing.
enum ImaginaryPipeline {
  private static let parameters = [
    "autorotate": [], "convert": ["type"],
    "fit": ["width", "height", "stripmeta", "type", "norotation", "quality"],
    "smartcrop": ["width", "height", "stripmeta", "type", "norotation", "quality"],
  ]

  /// Reads the operations. What Nextcloud does not send is an error that names it.
  static func variant(_ json: String) throws(InvalidValue) -> Variant {
    guard let steps = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]] else {
      throw InvalidValue("operations must be a JSON array of objects with operation and params")
    }
    var variant: Variant?
    for step in steps {
      let operation = step["operation"] as? String ?? ""
      let values = step["params"] as? [String: Any] ?? [:]
      guard let known = parameters[operation] else { throw unsupported("operation \(operation)") }
      for name in Set(step.keys).subtracting(["operation", "params"]) { throw unsupported(name) }
      for (name, value) in values {
        let isKnown = known.contains(name) && (!["stripmeta", "norotation"].contains(name) || "\(value)" == "true")
        if !isKnown { throw unsupported("\(name) of \(operation)") }
      }
      if let type = values["type"] { _ = try format(type) }
      guard operation == "fit" || operation == "smartcrop" else { continue }
      if variant != nil { throw unsupported("another \(operation)") }
      let sides = 1...PixelSize.longestThumbnailSide
      let (isCrop, format) = (operation == "smartcrop", try values["type"].map(format) ?? .same)
      var framing = Framing()
      framing.enlargesUnlessBoth = isCrop
      variant = Variant(
        size: PixelSize(try number("width", values, sides), try number("height", values, sides)),
        fit: isCrop ? .cover : .contain, gravity: .attention, format: format,
        quality: try number("quality", values, 1...100, else: 80),
        // Transparent pixels are black in a JPEG.
        background: format == .jpeg ? RGBColor(red: 0, green: 0, blue: 0) : nil, framing: framing)
    }
    guard let variant else { throw InvalidValue("operations lack fit or smartcrop") }
    return variant
  }

  private static func number(
    _ name: String, _ values: [String: Any], _ range: ClosedRange<Int>, else standard: Int? = nil
  ) throws(InvalidValue) -> Int {
    let number = values[name].map { Int("\($0)") } ?? standard
    if let number, range.contains(number) { return number }
    throw InvalidValue("\(name) must be from \(range.lowerBound) to \(range.upperBound)")
  }

  private static func format(_ type: Any) throws(InvalidValue) -> OutputFormat {
    guard let format = OutputFormat(rawValue: "\(type)"), [.jpeg, .png, .webp].contains(format) else {
      throw unsupported("type \(type)")
    }
    return format
  }

  private static func unsupported(_ what: String) -> InvalidValue {
    InvalidValue("\(what.prefix(60)) is not supported; the previews of Nextcloud do not need it")
  }
}
