package import ThumbnailCore

/// A template for the names of thumbnails, such as `{path}/{name}-{size}.{ext}`.
///
/// | word | stands for |
/// |---|---|
/// | `{path}` | the source image's folder, relative to the given folder |
/// | `{name}` | the source image's name without its extension |
/// | `{ext}` | the usual extension of the thumbnail's format |
/// | `{oldext}` | the source image's own extension |
/// | `{size}` | the requested box: `400x300`, `400x` or `x300` with a side left open |
/// | `{width}`, `{height}` | its sides, `auto` for one that was left open |
/// | `{date}` | the day on which it was taken: `2026-11-20` |
/// | `{hash}` | 16 hexadecimal digits of the source image's full path |
///
/// `{{` and `}}` are braces.
package struct NamingTemplate: Hashable, Sendable, CustomStringConvertible {
  enum Part: Hashable, Sendable {
    case literal([UInt8])
    case path, name, ext, oldext, size, width, height, date, hash
  }

  /// The prefix of names reserved for temporary and index files: no thumbnail gets such a name.
  package static let reservedPrefix = Array(".thumbs-".utf8)

  /// The parts of the source image that its thumbnails' names are made of.
  package struct Source {
    /// The folder, empty or with a slash at its end.
    package var folder: [UInt8]
    /// The name with its extension.
    package var name: [UInt8]
    /// The absolute path.
    package var absolutePath: RawPath
    /// Replaces `{name}` if another image has the same one.
    package var alias: [UInt8]?
    /// The day on which it was taken, if the template uses it (`usesDate`).
    var date: String?

    package init(
      folder: [UInt8], name: [UInt8], absolutePath: RawPath, alias: [UInt8]? = nil, date: String? = nil
    ) {
      self.folder = folder
      self.name = name
      self.absolutePath = absolutePath
      self.alias = alias
      self.date = date
    }
  }

  /// The template's text.
  package let description: String
  let parts: [Part]

  /// Whether names have the images' dates, for which each file is read.
  package var usesDate: Bool { parts.contains(.date) }

  /// The default template: keeps the folder tree of the sources, and adds the size if there are several.
  package static func standard(sizeCount: Int) -> NamingTemplate {
    let size: [Part] = sizeCount > 1 ? [.literal(Array("-".utf8)), .size] : []
    return NamingTemplate(
      description: "{path}/{name}\(sizeCount > 1 ? "-{size}" : "").{ext}",
      parts: [.path, .literal([RawPath.slash]), .name] + size + [.literal(Array(".".utf8)), .ext])
  }

  private init(description: String, parts: [Part]) {
    (self.description, self.parts) = (description, parts)
  }

  /// Parses a template.
  ///
  /// - Throws: For an unknown word, an unmatched brace, a name outside the output folder, or one that is the same for
  ///   all images.
  package init(_ text: String) throws(InvalidValue) {
    var parts: [Part] = []
    var literal: [UInt8] = []
    var rest = text[...]
    while let character = rest.first {
      if rest.hasPrefix("{{") || rest.hasPrefix("}}") {
        literal.append(contentsOf: character.utf8)
        rest = rest.dropFirst(2)
      } else if character == "{" {
        guard let end = rest.firstIndex(of: "}") else { throw Self.invalid(text, "a { has no }") }
        let word = String(rest[rest.index(after: rest.startIndex)..<end])
        guard let part = Self.words[word] else {
          throw Self.invalid(text, "{\(word)} is not known; use \(Self.wordList)")
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
        literal = []
        parts.append(part)
        rest = rest[rest.index(after: end)...]
      } else if character == "}" {
        throw Self.invalid(text, "a } has no {")
      } else {
        literal.append(contentsOf: character.utf8)
        rest = rest.dropFirst()
      }
    }
    if !literal.isEmpty { parts.append(.literal(literal)) }
    self.init(description: text, parts: parts)
    if !parts.contains(.name), !parts.contains(.hash) {
      throw Self.invalid(text, "it names all pictures alike; use {name} or {hash}")
    }
    // In UTF-8, as the file system reads it: a slash with a combining mark is one Character, which does not equal a
    // slash.
    let names = text.utf8.split(separator: UInt8(ascii: "/"))
    if text.utf8.first == UInt8(ascii: "/") || names.contains(where: { $0.elementsEqual("..".utf8) }) {
      throw Self.invalid(text, "it leads out of the output folder; leave out every .. and the / at its start")
    }
    if text.utf8.contains(Self.openEnd) { throw Self.invalid(text, "it holds a zero byte, which no name can") }
    if text.hasSuffix("/") { throw Self.invalid(text, "it ends in a slash; name a file") }
  }

  private static let words: [String: Part] = [
    "path": .path, "name": .name, "ext": .ext, "oldext": .oldext, "size": .size, "width": .width, "height": .height,
    "date": .date, "hash": .hash,
  ]
  private static let wordList = "{path}, {name}, {ext}, {oldext}, {width}, {height}, {size}, {date} and {hash}"

  private static func invalid(_ text: String, _ reason: String) -> InvalidValue {
    InvalidValue("the name \(text) cannot be used: \(reason)")
  }

  /// The placeholder for an extension that is known only once the image is decoded.
  package static let openEnd: UInt8 = 0

  /// The path of one thumbnail relative to the output folder.
  ///
  /// - Parameter ext: The extension; nil puts `openEnd` in its place.
  /// - Returns: Nil if the source image's name makes the path unusable (empty, outside the folder, or reserved), or if
  ///   its date is used and unknown.
  package func path(for source: Source, size: TargetSize, ext: [UInt8]?) -> [UInt8]? {
    if usesDate, source.date == nil { return nil }
    var path: [UInt8] = []
    path.reserveCapacity(source.folder.count + source.name.count + 16)
    for part in parts { append(part, of: source, size: size, ext: ext, to: &path) }
    return Self.cleaned(path)
  }

  private func append(_ part: Part, of source: Source, size: TargetSize, ext: [UInt8]?, to path: inout [UInt8]) {
    switch part {
    case .literal(let bytes): path.append(contentsOf: bytes)
    case .path: path.append(contentsOf: source.folder)
    case .name: path.append(contentsOf: source.alias ?? Self.stem(source.name))
    case .ext: path.append(contentsOf: ext ?? [Self.openEnd])
    case .oldext: path.append(contentsOf: Self.end(source.name))
    case .size: path.append(contentsOf: size.description.utf8)
    case .width: path.append(contentsOf: (size.width.map { "\($0)" } ?? "auto").utf8)
    case .height: path.append(contentsOf: (size.height.map { "\($0)" } ?? "auto").utf8)
    case .date: path.append(contentsOf: (source.date ?? "").utf8)
    case .hash: path.append(contentsOf: Self.hash(source.absolutePath).utf8)
    }
  }

  /// The name without its extension. A leading dot starts no extension: `.jpg` is a name.
  package static func stem(_ name: some Collection<UInt8>) -> [UInt8] {
    let bytes = Array(name)
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return bytes }
    return Array(bytes[..<dot])
  }

  /// The extension; empty if there is none.
  package static func end(_ name: some Collection<UInt8>) -> [UInt8] {
    let bytes = Array(name)
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return [] }
    return Array(bytes[(dot + 1)...])
  }

  /// 16 hexadecimal digits.
  package static func hash(_ path: RawPath) -> String { hex(digest(path.bytes)) }

  /// The first 64 bits of a SHA-256.
  package static func digest(_ bytes: [UInt8]) -> UInt64 {
    SHA256.hash(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// 16 hexadecimal digits.
  package static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// A randomly seeded hash of a name for a table of names, so that an attacker cannot craft names that collide.
  package static func seededHash(_ bytes: [UInt8]) -> UInt64 {
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Removes empty and `.` components. Nil for a path that must not be written.
  private static func cleaned(_ path: [UInt8]) -> [UInt8]? {
    guard let last = path.last, last != RawPath.slash else { return nil }
    let dot = UInt8(ascii: ".")
    var cleaned: [UInt8] = []
    cleaned.reserveCapacity(path.count)
    for part in path.split(separator: RawPath.slash) where !part.elementsEqual([dot]) {
      if part.elementsEqual([dot, dot]) || part.starts(with: Self.reservedPrefix) { return nil }
      if !cleaned.isEmpty { cleaned.append(RawPath.slash) }
      cleaned.append(contentsOf: part)
    }
    return cleaned.isEmpty ? nil : cleaned
  }
}
