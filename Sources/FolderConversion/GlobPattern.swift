import ThumbnailCore

/// A glob pattern for paths: `*.jpg`, `2024/**`, `IMG_[0-9]*`, `{a,b}.png`.
///
/// `?` matches one byte and `*` any number of them, except slashes; `**` also matches slashes; `[a-z]` and `[!a-z]`
/// match one of a set; `{a,b}` matches either; a backslash escapes the next character. A pattern without a slash is
/// matched against the last component, one with a slash against the whole path relative to the given folder.
public struct GlobPattern: Hashable, Sendable, CustomStringConvertible {
  /// The pattern's text.
  public let description: String
  /// The pattern with all braces expanded.
  private let alternatives: [[UInt8]]
  private let isForWholePath: Bool

  /// The most patterns that braces may expand to.
  private static let mostAlternatives = 1024

  /// Parses a pattern. Nil if it is empty, a bracket is not closed, or its braces expand to more than 1024 patterns.
  public init?(_ text: String) {
    guard !text.isEmpty, let alternatives = Self.expanded(Array(text.utf8)),
      alternatives.allSatisfy(Self.closesBrackets)
    else { return nil }
    description = text
    // A trailing slash denotes a folder, a leading one the root.
    isForWholePath = text.utf8.dropLast().contains(RawPath.slash)
    self.alternatives = alternatives.map { pattern in
      var pattern = pattern[...]
      if pattern.first == RawPath.slash { pattern = pattern.dropFirst() }
      if pattern.count > 1, pattern.last == RawPath.slash { pattern = pattern.dropLast() }
      return Array(pattern)
    }
  }

  /// Whether the pattern matches a path, which is relative and has no trailing slash.
  func matches(path: some Sequence<UInt8>) -> Bool {
    var subject = Array(path)
    if !isForWholePath, let slash = subject.lastIndex(of: RawPath.slash) { subject.removeFirst(slash + 1) }
    return alternatives.contains { Self.matches($0, subject) }
  }

  /// Backtracking with one resume point for the last `*` and one for the last `**`: linear memory, and time
  /// proportional to the product of the lengths.
  private static func matches(_ pattern: [UInt8], _ subject: [UInt8]) -> Bool {
    var (p, s) = (0, 0)
    var star: (pattern: Int, subject: Int)?
    var doubleStar: (pattern: Int, subject: Int)?
    while true {
      if p < pattern.count, pattern[p] == UInt8(ascii: "*") {
        if p + 1 < pattern.count, pattern[p + 1] == UInt8(ascii: "*") {
          p += 2
          // `a/**/b` also matches `a/b`.
          if p < pattern.count, pattern[p] == RawPath.slash, p == 2 || pattern[p - 3] == RawPath.slash {
            doubleStar = (p, s - 1)
            p += 1
          } else {
            doubleStar = (p, s)
          }
          star = nil
        } else {
          p += 1
          star = (p, s)
        }
        continue
      }
      if s == subject.count, p == pattern.count { return true }
      if s < subject.count, let next = step(pattern, p, subject[s]) {
        (p, s) = (next, s + 1)
        continue
      }
      if let last = star, last.subject < subject.count, subject[last.subject] != RawPath.slash {
        star = (last.pattern, last.subject + 1)
        (p, s) = (last.pattern, last.subject + 1)
      } else if let last = doubleStar, last.subject < subject.count {
        doubleStar = (last.pattern, last.subject + 1)
        star = nil
        (p, s) = (last.pattern, last.subject + 1)
      } else {
        return false
      }
    }
  }

  /// The index behind the pattern element at `index`, if that matches `byte`.
  private static func step(_ pattern: [UInt8], _ index: Int, _ byte: UInt8) -> Int? {
    guard index < pattern.count else { return nil }
    switch pattern[index] {
    case UInt8(ascii: "?"): return byte == RawPath.slash ? nil : index + 1
    case UInt8(ascii: "["):
      guard byte != RawPath.slash, let (fits, next) = bracket(pattern, index, byte) else { return nil }
      return fits ? next : nil
    case UInt8(ascii: "\\") where index + 1 < pattern.count: return pattern[index + 1] == byte ? index + 2 : nil
    default: return pattern[index] == byte ? index + 1 : nil
    }
  }

  /// Whether the set at `start` contains `byte`, and where it ends. Nil if it is not closed.
  private static func bracket(_ pattern: [UInt8], _ start: Int, _ byte: UInt8) -> (Bool, Int)? {
    var index = start + 1
    let isNegated =
      index < pattern.count && (pattern[index] == UInt8(ascii: "!") || pattern[index] == UInt8(ascii: "^"))
    if isNegated { index += 1 }
    let first = index
    var holds = false
    while index < pattern.count {
      if pattern[index] == UInt8(ascii: "]"), index > first { return (holds != isNegated, index + 1) }
      if index + 2 < pattern.count, pattern[index + 1] == UInt8(ascii: "-"), pattern[index + 2] != UInt8(ascii: "]") {
        holds = holds || (pattern[index] <= byte && byte <= pattern[index + 2])
        index += 3
      } else {
        holds = holds || pattern[index] == byte
        index += 1
      }
    }
    return nil
  }

  private static func closesBrackets(_ pattern: [UInt8]) -> Bool {
    var index = 0
    while index < pattern.count {
      switch pattern[index] {
      case UInt8(ascii: "\\"): index += 2
      case UInt8(ascii: "["):
        guard let (_, next) = bracket(pattern, index, 0) else { return false }
        index = next
      default: index += 1
      }
    }
    return true
  }

  /// The pattern with braces expanded recursively, the first ones first. Braces without a comma or without an end are
  /// literal.
  private static func expanded(_ pattern: [UInt8]) -> [[UInt8]]? {
    var finished: [[UInt8]] = []
    var open = [pattern]
    while let next = open.popLast() {
      guard let (range, choices) = braces(next) else {
        finished.append(next)
        continue
      }
      open += choices.map { Array(next[..<range.lowerBound]) + $0 + next[range.upperBound...] }
      if finished.count + open.count > mostAlternatives { return nil }
    }
    return finished
  }

  /// The first braces that contain a comma and no other braces, and the parts between the commas.
  private static func braces(_ pattern: [UInt8]) -> (Range<Int>, [ArraySlice<UInt8>])? {
    var start: Int?
    var index = 0
    while index < pattern.count {
      switch pattern[index] {
      case UInt8(ascii: "\\"): index += 1
      case UInt8(ascii: "{"): start = index
      case UInt8(ascii: "}"):
        guard let begin = start else { break }
        let choices = pattern[(begin + 1)..<index].split(
          separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        if choices.count > 1 { return (begin..<(index + 1), choices) }
        start = nil
      default: break
      }
      index += 1
    }
    return nil
  }
}
