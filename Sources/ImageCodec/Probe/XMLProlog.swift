/// The prolog before the first element of an XML document: white space, comments, processing instructions and a
/// DOCTYPE.
enum XMLProlog {
  /// The text after the prolog.
  enum Rest: Equatable {
    /// An element of this name, in lower case and without its prefix, and the index after the name.
    case element(String, end: Int)
    /// The prolog does not end within the given bytes.
    case unfinished
    /// Something that is not XML.
    case other
  }

  /// Skips the prolog; `bytes` start after a byte order mark.
  static func pass(_ bytes: ArraySlice<UInt8>) -> Rest {
    var rest = bytes
    while true {
      rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
      guard let first = rest.first else { return .unfinished }
      guard first == UInt8(ascii: "<") else { return .other }
      if rest.starts(with: "<!--".utf8) {
        guard let end = end(of: "-->", in: rest.dropFirst(4)) else { return .unfinished }
        rest = rest[end...]
      } else if rest.starts(with: "<?".utf8) {
        guard let end = end(of: "?>", in: rest.dropFirst(2)) else { return .unfinished }
        rest = rest[end...]
      } else if rest.starts(with: "<!".utf8) {
        guard let end = endOfDeclaration(rest) else { return .unfinished }
        rest = rest[end...]
      } else {
        return element(rest.dropFirst())
      }
    }
  }

  private static func element(_ bytes: ArraySlice<UInt8>) -> Rest {
    let isInName = { (byte: UInt8) in byte > 0x20 && byte != UInt8(ascii: ">") && byte != UInt8(ascii: "/") }
    let name = bytes.prefix(while: isInName)
    guard name.endIndex < bytes.endIndex else { return .unfinished }
    let text = String(decoding: name, as: UTF8.self).lowercased()
    return .element(text.split(separator: ":").last.map { String($0) } ?? text, end: name.endIndex)
  }

  /// The index after a DOCTYPE, whose internal subset is in brackets.
  private static func endOfDeclaration(_ bytes: ArraySlice<UInt8>) -> Int? {
    var (depth, quote): (Int, UInt8?) = (0, nil)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      if let open = quote {
        if byte == open { quote = nil }
      } else if bytes[index...].starts(with: "<!--".utf8) {
        guard let end = end(of: "-->", in: bytes[index...].dropFirst(4)) else { return nil }
        index = end
        continue
      } else {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
        case UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "]"): depth -= 1
        case UInt8(ascii: ">") where depth <= 0: return index + 1
        default: break
        }
      }
      index += 1
    }
    return nil
  }

  /// The index after the first `mark`.
  private static func end(of mark: StaticString, in bytes: ArraySlice<UInt8>) -> Int? {
    let mark = Array("\(mark)".utf8)
    guard let last = mark.last, bytes.count >= mark.count else { return nil }
    var index = bytes.startIndex + mark.count - 1
    while index < bytes.endIndex {
      if bytes[index] == last, bytes[(index - mark.count + 1)...index].elementsEqual(mark) { return index + 1 }
      index += 1
    }
    return nil
  }
}
