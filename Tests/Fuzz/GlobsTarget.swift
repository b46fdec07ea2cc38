@testable import FolderConversion

/// Glob patterns: the first line is the pattern, the others are paths. A pattern takes no longer than the lengths allow,
/// and matches what the same pattern without backtracking does.
func fuzzGlobs(_ input: FuzzInput) {
  let lines = input.lines(atMost: 20)
  guard let first = lines.first, let text = String(validating: first, as: UTF8.self) else { return }
  let pattern = requireTime(.seconds(2), "parsing a pattern of \(first.count) bytes") { GlobPattern(text) }
  guard let pattern else { return }
  require(GlobPattern(pattern.description) == pattern, "\(text) is another pattern when it is read again")
  let reference = ReferencePattern(text)
  for path in lines.dropFirst() {
    let matches = requireTime(.seconds(2), "matching \(path.count) bytes") { pattern.matches(path: path) }
    guard let reference, let subject = String(validating: path, as: UTF8.self) else { continue }
    let expected = reference.matches(Array(subject.unicodeScalars))
    require(matches == expected, "\(text) \(matches ? "matches" : "does not match") \(subject)")
  }
}

/// The same language by another way: all places of the pattern at once, in one pass over the path.
private struct ReferencePattern {
  private enum Element {
    case one((Unicode.Scalar) -> Bool)
    case name, path
    /// `**/` is two elements: the first may be left at once, the second only behind a slash.
    case folders, inFolder
  }

  private var elements: [Element] = []
  private let isForWholePath: Bool

  /// Nil for a pattern with braces, which stand for several patterns, or with a set.
  init?(_ text: String) {
    guard !text.unicodeScalars.contains(where: { "{}[".unicodeScalars.contains($0) }) else { return nil }
    isForWholePath = text.unicodeScalars.dropLast().contains("/")
    var rest = Array(text.unicodeScalars)[...]
    if rest.first == "/" { rest.removeFirst() }
    if rest.count > 1, rest.last == "/" { rest.removeLast() }
    var startsComponent = true
    while let character = rest.popFirst() {
      var isSlash = false
      switch character {
      case "*" where rest.first == "*":
        rest.removeFirst()
        if rest.first == "/", startsComponent {
          rest.removeFirst()
          elements += [.folders, .inFolder]
        } else {
          elements.append(.path)
        }
      case "*": elements.append(.name)
      case "?": elements.append(.one { $0 != "/" })
      default:
        let literal = character == "\\" ? rest.popFirst() ?? character : character
        elements.append(.one { $0 == literal })
        isSlash = literal == "/"
      }
      startsComponent = isSlash
    }
  }

  func matches(_ path: [Unicode.Scalar]) -> Bool {
    var subject = path[...]
    if !isForWholePath, let slash = subject.lastIndex(of: "/") { subject = subject[(slash + 1)...] }
    var places = withoutCharacters([0])
    for character in subject {
      var next: Set<Int> = []
      for place in places where place < elements.count {
        switch elements[place] {
        case .one(let accepts): if accepts(character) { next.insert(place + 1) }
        case .name: if character != "/" { next.insert(place) }
        case .path: next.insert(place)
        case .folders: break
        case .inFolder:
          next.insert(place)
          if character == "/" { next.insert(place + 1) }
        }
      }
      places = withoutCharacters(next)
    }
    return places.contains(elements.count)
  }

  /// The places, and those that can be reached from them without a character.
  private func withoutCharacters(_ places: Set<Int>) -> Set<Int> {
    var all = places
    for place in 0..<elements.count where all.contains(place) {
      switch elements[place] {
      case .name, .path: all.insert(place + 1)
      case .folders: all.formUnion([place + 1, place + 2])
      case .one, .inFolder: break
      }
    }
    return all
  }
}
