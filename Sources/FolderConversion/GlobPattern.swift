import Foundation
import ThumbnailCore

/// A glob pattern for paths: `*.jpg`, `2024/**`, `IMG_[0-9]*`, `{a,b}.png`.
///
/// `?` matches one character and `*` any number of them, except slashes; `**` also matches slashes; `[a-z]` and
/// `[!a-z]` match one of a set; `{a,b}` matches either; a backslash escapes the next character. A pattern without a
/// slash is matched against the last component, one with a slash against the whole path relative to the given folder; it
/// may begin with the path of that folder. Letters with accents match however they are composed, as names of a Mac are.
package struct GlobPattern: Hashable, Sendable, CustomStringConvertible {
  private enum Element: Hashable, Sendable {
    case character(Unicode.Scalar)
    /// `?`
    case anyCharacter
    /// `[a-z]`; with `!`, all others.
    case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)
    /// `*`
    case anyName
    /// `**`
    case anyPath
    /// `**/` at the start of a component: any number of folders, so that `a/**/b` also matches `a/b`.
    case anyFolders

    /// Whether it matches this one character; nil is a byte that is not UTF-8.
    func matches(_ character: Unicode.Scalar?) -> Bool {
      switch self {
      case .character(let expected): character == expected
      case .anyCharacter: character != slash
      case .set(let ranges, let isNegated):
        character != slash && isNegated != ranges.contains { range in character.map(range.contains) ?? false }
      case .anyName, .anyPath, .anyFolders: false
      }
    }
  }

  /// The pattern's text.
  package let description: String
  /// The pattern with all braces expanded.
  private var alternatives: [[Element]] { didSet { composed = alternatives.map(Self.composed) } }
  /// The same with accents composed, as paths are compared.
  private var composed: [[Element]]
  /// Those that count from a folder, if they are for whole paths: see `counted`.
  private var counted: [[Element]]?
  private let isForWholePath: Bool

  /// The most patterns that braces may expand to.
  private static let mostAlternatives = 1024
  private static let slash: Unicode.Scalar = "/"

  /// Parses a pattern. Nil if it is empty, a bracket is not closed, or its braces expand to more than 1024 patterns.
  package init?(_ text: String) {
    guard !text.isEmpty, let expanded = Self.expanded(Array(text.unicodeScalars)) else { return nil }
    alternatives = expanded.compactMap { Self.elements($0) }
    composed = alternatives.map(Self.composed)
    guard alternatives.count == expanded.count else { return nil }
    description = text
    // A trailing slash denotes a folder, a leading one the root.
    isForWholePath = text.utf8.dropLast().contains(RawPath.slash)
  }

  /// Whether the pattern matches a path, which is relative and has no trailing slash.
  func matches(path: some Sequence<UInt8>) -> Bool {
    var subject = Self.characters(path)
    if !isForWholePath, let slash = subject.lastIndex(of: Self.slash) { subject.removeFirst(slash + 1) }
    if alternatives.contains(where: { Self.matches($0, subject) }) { return true }
    // Names of a Mac have their accents as characters of their own.
    guard subject.contains(where: { $0?.isASCII == false }) else { return false }
    let letters = Self.composed(subject, { $0 }, { $0 })
    return composed.contains { Self.matches($0, letters) }
  }

  /// What it has before its first wildcard.
  var beginnings: [[UInt8]] {
    (counted ?? alternatives).map { elements in
      var path = String.UnicodeScalarView()
      for case .character(let scalar) in elements.prefix(while: { if case .character = $0 { true } else { false } }) {
        path.append(scalar)
      }
      return Array(String(path).utf8)
    }
  }

  /// Whether it begins with `*` or `?`.
  var beginsWithWildcard: Bool {
    (counted ?? alternatives).contains { [.anyCharacter, .anyName, .anyPath, .anyFolders].contains($0.first) }
  }

  /// A pattern for each choice of its braces.
  var choices: [GlobPattern] {
    (Self.expanded(Array(description.unicodeScalars)) ?? []).compactMap { GlobPattern(Self.string($0)) }
  }

  /// Whether it is the path of the folder itself, of which it would leave nothing.
  func isWhole(_ folder: RawPath) -> Bool {
    description.split(separator: "/").allSatisfy { [".", ".."].contains($0) } || RawPath(description).resolved == folder
  }

  /// The pattern that also matches what its text means as a path in a folder: as a shell completes it, from here or
  /// absolute, through links and `..`, or with the names of files that have brackets and stars.
  ///
  /// - Parameter folder: The folder's resolved path.
  func counted(from folder: RawPath) -> GlobPattern {
    var pattern = self
    if isForWholePath { pattern.counted = [] }
    for text in Set((Self.expanded(Array(description.unicodeScalars)) ?? []).map(Self.string) + [description]) {
      let isWhole = text.utf8.dropLast().contains(RawPath.slash)
      guard let path = Self.path(Array(text.utf8), in: folder) else { continue }
      if isWhole, let elements = Self.elements(Array(String(decoding: path, as: UTF8.self).unicodeScalars)) {
        pattern.alternatives.append(elements)
        pattern.counted?.append(elements)
      }
      // What is there is meant, whatever characters it has; and no link to its folder. Wildcards may follow.
      for end in path.indices.filter({ path[$0] == RawPath.slash }) + [path.count] {
        let place = folder.appending(path[..<end])
        guard (try? FileState(of: place, followingLinks: false)) != nil,
          let parent = RawPath(bytes: place.folder).resolved, parent.isWithin(folder),
          let rest = Self.elements(Array(String(decoding: path[end...].dropFirst(), as: UTF8.self).unicodeScalars))
        else { continue }
        let real = parent.appending(place.name).bytes.dropFirst(folder.bytes.count)
        let literal = String(decoding: real, as: UTF8.self).unicodeScalars.drop { $0 == Self.slash }
        pattern.alternatives.append(
          literal.map { .character($0) } + (rest.isEmpty ? [] : [.character(Self.slash)]) + rest)
      }
    }
    return pattern
  }

  private static func string(_ scalars: [Unicode.Scalar]) -> String { String(String.UnicodeScalarView(scalars)) }

  /// A text as a path in a folder, without `.` and `..`; nil if it leads out of it, or to it.
  private static func path(_ text: [UInt8], in folder: RawPath) -> [UInt8]? {
    let parts = text.split(separator: RawPath.slash)
    let start = text.first == RawPath.slash ? [RawPath.slash] : []
    let end = parts.indices.dropFirst().last { end in
      let path = Array(parts[..<end].joined(separator: [RawPath.slash]))
      return RawPath(bytes: start + path).resolved == folder
    }
    var path: [ArraySlice<UInt8>] = []
    for part in parts[(end ?? 0)...] where !part.elementsEqual(".".utf8) {
      if !part.elementsEqual("..".utf8) { path.append(part) } else if path.popLast() == nil { return nil }
    }
    return path.isEmpty ? nil : Array(path.joined(separator: [RawPath.slash]))
  }

  /// Backtracking with one resume point for the last `*` and one for the last `**`: linear memory, and time
  /// proportional to the product of the lengths.
  private static func matches(_ pattern: [Element], _ subject: [Unicode.Scalar?]) -> Bool {
    var (element, place) = (0, 0)
    var name: (element: Int, place: Int)?
    var path: (element: Int, place: Int)?
    while true {
      if element == pattern.count, place == subject.count { return true }
      if element < pattern.count {
        switch pattern[element] {
        case .anyName:
          element += 1
          name = (element, place)
          continue
        case .anyPath, .anyFolders:
          element += 1
          (name, path) = (nil, (element, place))
          continue
        case let one where place < subject.count && one.matches(subject[place]):
          (element, place) = (element + 1, place + 1)
          continue
        default: break
        }
      }
      if let last = name, last.place < subject.count, subject[last.place] != slash {
        (element, place) = (last.element, last.place + 1)
        name = (element, place)
      } else if let last = path, let next = self.next(after: last.place, pattern[last.element - 1], subject) {
        (element, place) = (last.element, next)
        (name, path) = (nil, (element, place))
      } else {
        return false
      }
    }
  }

  /// The next place after `place` where `**` can end.
  private static func next(after place: Int, _ element: Element, _ subject: [Unicode.Scalar?]) -> Int? {
    let end = element == .anyFolders ? subject[place...].firstIndex(of: slash) : place
    return end.flatMap { $0 < subject.count ? $0 + 1 : nil }
  }

  // MARK: Parsing

  /// The elements of a pattern without braces; nil if a bracket is not closed.
  private static func elements(_ pattern: [Unicode.Scalar]) -> [Element]? {
    var rest = pattern[...]
    if rest.first == slash { rest = rest.dropFirst() }
    if rest.count > 1, rest.last == slash { rest = rest.dropLast() }
    var elements: [Element] = []
    while let character = rest.popFirst() {
      switch character {
      case "*" where rest.first == character:
        rest = rest.dropFirst()
        if rest.first == slash, elements.isEmpty || elements.last == .character(slash) {
          rest = rest.dropFirst()
          elements.append(.anyFolders)
        } else {
          elements.append(.anyPath)
        }
      case "*": elements.append(.anyName)
      case "?": elements.append(.anyCharacter)
      case "[":
        guard let set = set(&rest) else { return nil }
        elements.append(set)
      case "\\": elements.append(.character(rest.popFirst() ?? character))
      default: elements.append(.character(character))
      }
    }
    return elements
  }

  /// The set whose opening bracket was read; nil if it is not closed.
  private static func set(_ rest: inout ArraySlice<Unicode.Scalar>) -> Element? {
    let isNegated = rest.first.map { $0 == "!" || $0 == "^" } ?? false
    if isNegated { rest = rest.dropFirst() }
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    var isFirst = true
    while let low = rest.popFirst() {
      // A closing bracket in the first place is a member.
      if low == "]", !isFirst { return .set(ranges, isNegated: isNegated) }
      isFirst = false
      let next = rest.prefix(2)
      if next.count == 2, let dash = next.first, let high = next.last, dash == "-",
        high != "]"
      {
        if low <= high { ranges.append(low...high) }
        rest = rest.dropFirst(2)
      } else {
        ranges.append(low...low)
      }
    }
    return nil
  }

  /// The pattern with braces expanded recursively, the first ones first. Braces without a comma or without an end are
  /// literal.
  private static func expanded(_ pattern: [Unicode.Scalar]) -> [[Unicode.Scalar]]? {
    var finished: [[Unicode.Scalar]] = []
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
  private static func braces(_ pattern: [Unicode.Scalar]) -> (Range<Int>, [ArraySlice<Unicode.Scalar>])? {
    var start: Int?
    var index = 0
    while index < pattern.count {
      switch pattern[index] {
      case "\\": index += 1
      case "{": start = index
      case "}":
        guard let begin = start else { break }
        let choices = pattern[(begin + 1)..<index].split(separator: ",", omittingEmptySubsequences: false)
        if choices.count > 1 { return (begin..<(index + 1), choices) }
        start = nil
      default: break
      }
      index += 1
    }
    return nil
  }

  /// The characters of a path; nil for each byte that is not UTF-8.
  private static func characters(_ path: some Sequence<UInt8>) -> [Unicode.Scalar?] {
    var characters: [Unicode.Scalar?] = []
    var bytes = path.makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    while true {
      switch parser.parseScalar(from: &bytes) {
      case .valid(let scalar): characters.append(Unicode.UTF8.decode(scalar))
      case .error(let length): characters += repeatElement(nil, count: length)
      case .emptyInput: return characters
      }
    }
  }

  /// Composes the accents of characters in a row. What is no character stays.
  private static func composed<Part>(
    _ parts: [Part], _ scalar: (Part) -> Unicode.Scalar?, _ part: (Unicode.Scalar) -> Part
  ) -> [Part] {
    var (composed, row): ([Part], [Unicode.Scalar]) = ([], [])
    func endRow() {
      composed += string(row).precomposedStringWithCanonicalMapping.unicodeScalars.map(part)
      row = []
    }
    for each in parts {
      if let known = scalar(each) {
        row.append(known)
      } else {
        endRow()
        composed.append(each)
      }
    }
    endRow()
    return composed
  }

  private static func composed(_ elements: [Element]) -> [Element] {
    composed(elements, { if case .character(let scalar) = $0 { scalar } else { nil } }, { .character($0) })
  }
}
