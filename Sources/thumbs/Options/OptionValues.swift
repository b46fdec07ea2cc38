public import ArgumentParser
import Exports
import FolderConversion
import Foundation
import ThumbnailCore
public import Thumbnailer

// How the values of options are parsed; each error shows what to write.

extension Duration {
  private static let secondsOfUnits: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

  /// Parses `30s`, `10m`, `12h`, `7d`, `2w` or `0`, or throws an error that explains the syntax.
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

extension TargetSize {
  /// Parses a size, or throws an error that explains the syntax.
  static func option(_ text: String) throws -> TargetSize {
    if let size = TargetSize(parsing: text) { return size }
    throw ValidationError(
      "write 400x300, 400, 400x or x300, each side from 1 to \(PixelSize.longestThumbnailSide) pixels")
  }
}

extension PixelSize {
  /// Parses `400x300`, or throws an error that explains the syntax.
  static func option(_ text: String) throws -> PixelSize {
    if let size = PixelSize(parsing: text) { return size }
    let isSide = Int(text).map { $0 > 0 } ?? false
    throw ValidationError("write width and height in pixels, such as \(isSide ? "\(text)x\(text)" : "400x300")")
  }
}

extension ByteSize {
  /// Parses `256MiB`, or throws an error that explains the syntax.
  static func option(_ text: String) throws -> ByteSize {
    if let size = ByteSize(parsing: text) { return size }
    throw ValidationError("write a number of bytes, such as 256MiB")
  }
}

extension GlobPattern {
  /// Parses a pattern, or throws an error that explains the syntax.
  static func option(_ text: String) throws -> GlobPattern {
    if let pattern = GlobPattern(text) { return pattern }
    throw ValidationError("write a pattern such as '*.jpg' or '2024/**', with every [ closed")
  }
}

extension NamingTemplate {
  /// Parses a template, or throws its error.
  static func option(_ text: String) throws -> NamingTemplate {
    do throws(NamingTemplate.Problem) {
      return try NamingTemplate(text)
    } catch {
      throw ValidationError(error.message)
    }
  }
}

extension RGBColor {
  /// Parses a colour, or throws an error that explains the syntax.
  static func option(_ text: String) throws -> RGBColor {
    switch text.lowercased() {
    case "white": return .white
    case "black": return RGBColor(red: 0, green: 0, blue: 0)
    default:
      if let colour = RGBColor(hex: text) { return colour }
      throw ValidationError("write rrggbb, such as ffcc00, or black or white")
    }
  }
}

// MARK: Values of a few names

extension Fit: ExpressibleByArgument {}
extension Scaling: ExpressibleByArgument {}
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

/// The value of an on/off option.
enum Toggle: String, ExpressibleByArgument, CaseIterable {
  case on, off
}
