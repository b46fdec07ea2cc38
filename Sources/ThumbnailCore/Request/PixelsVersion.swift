/// Which of two versions of the program makes other pixels of the same image and variant.
///
/// Thumbnails record the version of their pixels. Those of an earlier one stay in use, because a new version must not
/// make a user's thumbnails anew without being asked: `thumbs cache prune --made-before` and `thumbs convert --force`.
package struct PixelsVersion: Hashable, Comparable, Sendable {
  /// The versions of the program that changed pixels, oldest first. The change that makes other pixels appends the
  /// version that will be the first with it, and CHANGELOG.md names it.
  private static let changes = ["0.9.0", "0.10.0", "0.11.0"]

  /// The version of the pixels that this program makes.
  package static let current = PixelsVersion(number: changes.count)
  /// The version of thumbnails that record none.
  package static let first = PixelsVersion(number: 1)

  /// The position in the list of changes, from 1.
  package let number: Int

  package init(number: Int) { self.number = number }

  /// The version of the pixels that a version of the program makes, such as `0.9.0`. Nil if that is not a version, or
  /// one that is neither `latest` nor before it.
  package init?(of version: String, latest: String) {
    guard let version = Self.numbers(version), let latest = Self.numbers(latest) else { return nil }
    if latest.lexicographicallyPrecedes(version) { return nil }
    number = Self.changes.compactMap(Self.numbers).count { !version.lexicographicallyPrecedes($0) }
  }

  /// The three numbers of a version; those that are left out are 0.
  private static func numbers(_ version: String) -> [Int]? {
    let numbers = version.split(separator: ".", omittingEmptySubsequences: false).map { UInt16($0).map(Int.init) }
    guard numbers.count <= 3, !numbers.contains(nil) else { return nil }
    return numbers.compactMap(\.self) + Array(repeating: 0, count: 3 - numbers.count)
  }

  /// Whether the one came before the other.
  package static func < (one: PixelsVersion, other: PixelsVersion) -> Bool { one.number < other.number }
}
