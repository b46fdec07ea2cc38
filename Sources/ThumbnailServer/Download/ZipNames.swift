import Foundation
import ThumbnailCore

/// Names of files in an archive that every system can unpack, each beside all others.
enum ZipNames {
  /// The devices of Windows, whatever extension they have.
  private static let devices = Set(
    ["con", "conin$", "conout$", "prn", "aux", "nul"] + "0123456789¹²³".flatMap { ["com\($0)", "lpt\($0)"] })

  /// The names of files by their paths within the gallery, in the same order. Names that Windows or macOS would take for
  /// the same, or for that of a folder, are numbered: `lake (2).jpg`.
  static func names(of paths: [RawPath]) -> [String] {
    let names = paths.map { safe($0) }
    var taken = Set(names.flatMap(folders).map(folded))
    var numbers: [String: Int] = [:]
    return names.map { name in
      let (key, path) = (folded(name), RawPath(name))
      let end = path.parts.stem.count
      var unique = name
      while !taken.insert(folded(unique)).inserted {
        numbers[key, default: 1] += 1
        unique = "\(RawPath(bytes: path.bytes[..<end])) (\(numbers[key] ?? 2))\(RawPath(bytes: path.bytes[end...]))"
      }
      return unique
    }
  }

  /// The path without what leads out of a folder, ends a name for another system, or cannot be seen.
  private static func safe(_ path: RawPath) -> String {
    path.bytes.split(separator: RawPath.slash).map { bytes in
      var part = String.UnicodeScalarView(String(decoding: bytes, as: UTF8.self).unicodeScalars.map { safe($0) })
      // Windows leaves them out.
      while let last = part.last, last == "." || last == " " { part.removeLast() }
      let stem = String(part.prefix { $0 != "." }).trimmingCharacters(in: .whitespaces)
      let isDevice = devices.contains(stem.lowercased())
      return (part.isEmpty || isDevice ? "_" : "") + String(part)
    }.joined(separator: "/")
  }

  /// The name of one file, without slashes.
  static func safe(_ name: String) -> String { safe(RawPath(name.replacing("/", with: "_"))) }

  private static func safe(_ scalar: UnicodeScalar) -> UnicodeScalar {
    let isUnseen = [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    return isUnseen || scalar.properties.isBidiControl || #"<>:"\|?*"#.unicodeScalars.contains(scalar) ? "_" : scalar
  }

  /// `a` and `a/b` of `a/b/c.jpg`.
  private static func folders(of name: String) -> [String] {
    name.utf8.indices.filter { name.utf8[$0] == RawPath.slash }.map { String(name[..<$0]) }
  }

  /// The same text for names that a system takes for the same; strings are compared by their canonical forms.
  private static func folded(_ name: String) -> String { name.uppercased().lowercased() }
}
