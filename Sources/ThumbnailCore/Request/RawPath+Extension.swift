extension RawPath {
  /// The extensions of films, in lower case, which are skipped by their names.
  package static let filmExtensions: Set = [
    "3gp", "avi", "m2ts", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "mts", "webm", "wmv",
  ]

  /// The path up to the last dot of its name, and the extension behind that in lower case, empty if there is none.
  package var parts: (stem: ArraySlice<UInt8>, end: String) {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return (bytes[...], "") }
    return (bytes[..<dot], String(decoding: bytes[(dot + 1)...], as: UTF8.self).lowercased())
  }
}
