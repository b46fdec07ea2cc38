/// The names of films.
package enum FilmNames {
  /// The media types by the extensions, in lower case. A Live Photo is a picture and a `mov`.
  package static let mediaTypes = [
    "3gp": "video/3gpp", "avi": "video/x-msvideo", "m2ts": "video/mp2t", "m4v": "video/mp4",
    "mkv": "video/x-matroska", "mov": "video/quicktime", "mp4": "video/mp4", "mpeg": "video/mpeg",
    "mpg": "video/mpeg", "mts": "video/mp2t", "webm": "video/webm", "wmv": "video/x-ms-wmv",
  ]
}

extension RawPath {
  /// The path up to the last dot of its name, and the extension behind that in lower case, empty if there is none.
  package var parts: (stem: ArraySlice<UInt8>, end: String) {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return (bytes[...], "") }
    return (bytes[..<dot], String(decoding: bytes[(dot + 1)...], as: UTF8.self).lowercased())
  }

  /// The media type of a file that is named like a film; nil for others.
  package var filmType: String? { FilmNames.mediaTypes[parts.end] }
}
