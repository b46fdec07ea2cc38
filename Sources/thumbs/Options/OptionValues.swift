import HTTPTransport
import ThumbnailCore
public import ArgumentParser
import Exports
import FolderConversion
import Foundation
import ThumbnailServer
import ThumbnailWorker
public import Thumbnailer

/// A type of values that options have.
protocol OptionValue: Sendable {
  /// Parses a text, or throws an error that says what to write.
  static func option(_ text: String) throws -> Self
}

/// Which values an option takes, with the advice for others. `UsageMessage` names the option.
struct OptionRule<Value>: Sendable {
  /// What to give instead of a value; nil if it is usable.
  let advice: @Sendable (Value) -> String?
}

extension OptionRule where Value: Comparable & Sendable {
  /// The values of a range.
  static func within(_ range: ClosedRange<Value>, _ advice: String? = nil) -> Self {
    Self { value in
      if range.contains(value) { return nil }
      return advice
        ?? (value < range.lowerBound ? "give at least \(range.lowerBound)" : "give at most \(range.upperBound)")
    }
  }

  /// A value and all above it.
  static func atLeast(_ least: Value, _ shown: String? = nil) -> Self {
    Self { $0 < least ? "give at least \(shown ?? "\(least)")" : nil }
  }
}

extension OptionRule<String> {
  /// Any text except an empty one, for the option's value.
  static func naming(_ what: String) -> Self { Self { $0.isEmpty ? "name \(what)" : nil } }
}

extension Option {
  /// An option that may be missing: `@Option("SIZE", "The longest line.") var longestLine: ByteSize?`
  init<Parsed: OptionValue>(
    _ valueName: String, _ text: String, name: NameSpecification = .long, _ rule: OptionRule<Parsed>? = nil,
    visibility: ArgumentVisibility = .default
  ) where Value == Parsed? {
    self.init(
      name: name, help: ArgumentHelp(text, valueName: valueName, visibility: visibility),
      completion: .values(named: valueName), transform: { try Parsed.option($0, rule) })
  }

  /// An option that must be given.
  init(_ valueName: String, _ text: String, name: NameSpecification = .long, _ rule: OptionRule<Value>? = nil)
  where Value: OptionValue {
    self.init(
      name: name, help: ArgumentHelp(text, valueName: valueName), completion: .values(named: valueName),
      transform: { try Value.option($0, rule) })
  }

  /// An option with a default.
  init(
    wrappedValue: Value, _ valueName: String, _ text: String, name: NameSpecification = .long,
    _ rule: OptionRule<Value>? = nil, visibility: ArgumentVisibility = .default
  ) where Value: OptionValue {
    let shown = "\(wrappedValue)".isEmpty ? text : "\(text) (default: \(wrappedValue))"
    self.init(
      wrappedValue: wrappedValue, name: name,
      help: ArgumentHelp(shown, valueName: valueName, visibility: visibility),
      completion: .values(named: valueName), transform: { try Value.option($0, rule) })
  }

  /// An option that may be given several times.
  init<Parsed: OptionValue>(
    wrappedValue: [Parsed], _ valueName: String, _ text: String, name: NameSpecification = .long,
    _ rule: OptionRule<Parsed>? = nil, visibility: ArgumentVisibility = .default
  ) where Value == [Parsed] {
    self.init(
      wrappedValue: wrappedValue, name: name,
      help: ArgumentHelp(text, valueName: valueName, visibility: visibility),
      completion: .values(named: valueName), transform: { try Parsed.option($0, rule) })
  }
}

extension CompletionKind {
  /// What a shell offers for a value that the help calls so; nil for values that only the user knows.
  fileprivate static func values(named valueName: String) -> CompletionKind? {
    switch valueName {
    case "DIR", "FOLDER": .directory
    case "PROVIDER": .list(["commons", "folder:", "pexels", "unsplash"])
    default: valueName.hasPrefix("FILE") ? .file() : nil
    }
  }
}

extension OptionValue {
  /// Parses a text, and refuses values that the rule does not allow.
  fileprivate static func option(_ text: String, _ rule: OptionRule<Self>?) throws -> Self {
    let value = try option(text)
    if let advice = rule?.advice(value) { throw ValidationError(advice) }
    return value
  }

  /// The value, or an error with this advice.
  fileprivate static func parsed(_ value: Self?, _ advice: String) throws -> Self {
    if let value { return value }
    throw ValidationError("write \(advice)")
  }
}

/// Refuses more than one of several options.
func checkOneOf(_ options: [(name: String, isGiven: Bool)], _ advice: String = "give one of them") throws {
  let given = options.filter(\.isGiven).map(\.name)
  if given.count > 1 { throw ValidationError("\(given[0]) and \(given[1]) exclude each other: \(advice)") }
}

// MARK: Values with a syntax

extension String: OptionValue {
  static func option(_ text: String) -> String { text }
}

extension Int: OptionValue {
  static func option(_ text: String) throws -> Int { try parsed(Int(text), "a number") }
}

extension Double: OptionValue {
  static func option(_ text: String) throws -> Double { try parsed(Double(text), "a number") }
}

extension Duration: OptionValue {
  private static let secondsOfUnits: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

  /// Parses `30s`, `10m`, `12h`, `7d`, `2w` or `0`.
  static func option(_ text: String) throws -> Duration {
    if text == "0" { return .zero }
    let digits = text.dropLast()
    let isNumber = !digits.isEmpty && digits.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
    // The limit of a thousand years keeps sums of times from overflowing.
    guard let unit = text.last.flatMap({ secondsOfUnits[$0] }), isNumber, let number = Double(digits),
      number * unit <= 1000 * 365.25 * 86_400
    else { throw ValidationError("write a duration with its unit, such as 30s, 10m, 12h or 7d, or 0") }
    return .seconds(number * unit)
  }
}

extension TargetSize: OptionValue {
  static func option(_ text: String) throws -> TargetSize {
    try parsed(
      TargetSize(parsing: text),
      "400x300, 400, 400x or x300, each side from 1 to \(PixelSize.longestThumbnailSide) pixels")
  }
}

extension ByteSize: OptionValue {
  static func option(_ text: String) throws -> ByteSize {
    try parsed(ByteSize(parsing: text), "a number of bytes, such as 256MiB")
  }
}

extension GlobPattern: OptionValue {
  static func option(_ text: String) throws -> GlobPattern {
    try parsed(GlobPattern(text), "a pattern such as '*.jpg' or '2024/**', with every [ closed")
  }
}

extension NamingTemplate: OptionValue {
  static func option(_ text: String) throws -> NamingTemplate {
    do throws(InvalidValue) {
      return try NamingTemplate(text)
    } catch {
      throw ValidationError(error.message)
    }
  }
}

extension RGBColor: OptionValue {
  static func option(_ text: String) throws -> RGBColor {
    let named = ["white": RGBColor.white, "black": RGBColor(red: 0, green: 0, blue: 0)]
    return try parsed(named[text.lowercased()] ?? RGBColor(hex: text), "rrggbb, such as ffcc00, or black or white")
  }
}

extension AddressRange: OptionValue {
  static func option(_ text: String) throws -> AddressRange {
    try parsed(try? AddressRange(text), "an address or a range, such as 10.1.2.3, 10.0.0.0/8 or fd00::/8")
  }
}

extension HostPattern: OptionValue {
  static func option(_ text: String) throws -> HostPattern {
    try parsed(HostPattern(parsing: text), "a host such as example.org, or *.example.org for all below it")
  }
}

extension FailureLimit: OptionValue {
  /// Parses `100` or `5%`.
  static func option(_ text: String) throws -> FailureLimit {
    if text.hasSuffix("%"), let part = Double(text.dropLast()), (0...100).contains(part) { return .percent(part) }
    let count = Int(text).flatMap { $0 >= 0 ? FailureLimit.count($0) : nil }
    return try parsed(count, "a number such as 100, or a part such as 5%")
  }
}

// MARK: Values of a few names

extension Fit: ExpressibleByArgument {}
extension FrameSelection: ExpressibleByArgument {}
extension FolderConverter.Options.Pairing: ExpressibleByArgument {}
extension DamagePolicy: ExpressibleByArgument {}
extension PreviewUse: ExpressibleByArgument {}

extension Gravity: ExpressibleByArgument {
  /// Parses a name; also accepts the spelling `center`.
  public init?(argument: String) {
    self.init(rawValue: argument == "center" ? "centre" : argument)
  }
}

extension OutputFormat: ExpressibleByArgument {
  /// Parses a name; also accepts `jpg`.
  public init?(argument: String) {
    self.init(rawValue: argument == "jpg" ? "jpeg" : argument)
  }
}

extension RawPath {
  /// The paths that these arguments of the command line name, in their order. The arguments are text, in which bytes that
  /// are not UTF-8 were replaced: each is looked up among those that the system passed. Where others read the same, such
  /// as the value of an option, the text is taken.
  static func arguments(_ texts: [String]) -> [RawPath] {
    guard texts.contains(where: { $0.contains("\u{FFFD}") }) else { return texts.map { RawPath($0) } }
    var paths = Dictionary(grouping: arguments, by: \.description).mapValues { $0[...] }
    for (text, same) in Dictionary(grouping: texts, by: \.self) where paths[text]?.count != same.count {
      paths[text] = nil
    }
    return texts.map { paths[$0]?.popFirst() ?? RawPath($0) }
  }

  /// The words of the command line as they were given.
  static var arguments: [RawPath] {
    UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).compactMap { $0 }.map {
      RawPath(bytes: UnsafeRawBufferPointer(start: $0, count: strlen($0)))
    }
  }
}
