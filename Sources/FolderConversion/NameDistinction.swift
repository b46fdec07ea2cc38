import Exports
import ThumbnailCore

/// How an input's thumbnails are told apart from those of other inputs that the standard names would mix up.
///
/// Each step changes what `{name}` stands for, and says enough by itself: no step depends on the order of the inputs or
/// on earlier runs.
enum NameDistinction: UInt8, Sendable, Comparable, CaseIterable {
  /// Nobody else has the name: `IMG_1`.
  case plain
  /// With the input's own extension, in lower case: `IMG_1.heic`.
  case oldExtension
  /// With the first digits of the hash of its path as well: `IMG_1.jpg-1f0a9b3c`.
  case digits
  /// With all of them.
  case hash

  /// The longest `{name}` that is made so, in bytes: a size and the end follow, and file systems take 255.
  private static let longestName = 200
  private static let digitCount = 8

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// The next step; nil after the last.
  var next: Self? { Self(rawValue: rawValue + 1) }

  /// Whether it changes anything: a name without an extension has none to keep.
  func changes(_ name: some Collection<UInt8>) -> Bool {
    self > .oldExtension || self == .oldExtension && !NamingTemplate.end(name).isEmpty
  }

  /// What `{name}` stands for; nil where that is the plain name.
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
