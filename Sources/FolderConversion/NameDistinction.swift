import Exports
import ThumbnailCore

/// How the names of an input's thumbnails are made distinct if the standard names collide.
///
/// Each step changes what `{name}` stands for. No step depends on the order of the inputs or on earlier runs.
enum NameDistinction: UInt8, Sendable, Comparable, CaseIterable {
  /// No collision: `IMG_1`.
  case plain
  /// With the source's own extension, in lower case: `IMG_1.heic`.
  case oldExtension
  /// And with the first eight digits of the hash of its path: `IMG_1.jpg-1f0a9b3c`.
  case digits
  /// With all sixteen digits.
  case hash

  /// The longest `{name}` made this way, in bytes: size and extension follow, and file systems allow 255.
  private static let longestName = 200
  private static let digitCount = 8

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// The next step; nil after the last.
  var next: Self? { Self(rawValue: rawValue + 1) }

  /// Whether it changes the name: a name without an extension has none to add.
  func changes(_ name: some Collection<UInt8>) -> Bool {
    self > .oldExtension || self == .oldExtension && !NamingTemplate.end(name).isEmpty
  }

  /// What `{name}` stands for; nil for the plain name.
  func alias(of name: some Collection<UInt8>, at absolutePath: RawPath) -> [UInt8]? {
    guard changes(name) else { return nil }
    let end = NamingTemplate.end(name)
    let hash = Array(NamingTemplate.hash(absolutePath).utf8)
    var alias = NamingTemplate.stem(name)
    if !end.isEmpty { alias += [UInt8(ascii: ".")] + end.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
    alias = PictureName.shortened(alias, to: Self.longestName, mark: Array(hash.prefix(Self.digitCount)))
    switch self {
    case .plain, .oldExtension: return alias
    case .digits: return alias + [UInt8(ascii: "-")] + hash.prefix(Self.digitCount)
    case .hash: return alias + [UInt8(ascii: "-")] + hash
    }
  }
}
