package import Foundation
package import ThumbnailCore

/// The parts of an image's origin that its thumbnails' names are made of.
///
/// Untrusted names are sanitised: the path stays within its folder, and its components are readable, typeable and easy
/// to delete.
package struct PictureName: Sendable, Equatable {
  /// The folders, empty or with a trailing slash.
  let folder: [UInt8]
  /// The name with its extension.
  let name: [UInt8]
  /// Identifies the image.
  let identity: String
  /// The image's file, for the date in `{date}`; nil if the image is not a file.
  package var file: RawPath?

  /// The longest path component taken from an untrusted name, in bytes; file systems allow 255.
  private static let longestPart = 150
  /// The longest folder path, in bytes; a longer one is replaced by a hash.
  private static let longestFolder = 600

  /// The name of an image on the web: the host, the folders of its path and its last component.
  package init(_ url: URL) {
    let path = url.path(percentEncoded: true).split(separator: "/").map { RawPath(percentEncoded: String($0)).bytes }
    let host = Array((url.host(percentEncoded: false) ?? "").utf8)
    self.init(folders: [host] + path.dropLast(), name: path.last ?? [], identity: url.absoluteString)
  }

  /// The name of an image by its path within the searched folder, or by its id at a photo service.
  package init(_ path: String, identity: String) {
    let parts = Array(path.utf8).split(separator: RawPath.slash).map { Array($0) }
    self.init(folders: Array(parts.dropLast()), name: parts.last ?? [], identity: identity)
  }

  private init(folders: [[UInt8]], name: [UInt8], identity: String) {
    self.identity = identity
    let hash = NamingTemplate.hex(NamingTemplate.digest(Array(identity.utf8)))
    let parts = folders.compactMap { Self.fit($0, hash) }
    let folder = parts.flatMap { $0 + [RawPath.slash] }
    self.folder = folder.count > Self.longestFolder ? Array("\(hash)/".utf8) : folder
    self.name = Self.fit(name, hash) ?? Array(hash.utf8)
  }

  /// The input for a template. Its hash is that of the identity, since there may be no path.
  var templateSource: NamingTemplate.Source {
    NamingTemplate.Source(folder: folder, name: name, absolutePath: RawPath(identity))
  }

  /// Eight digits that distinguish images of the same name.
  var mark: [UInt8] { Array(NamingTemplate.hash(RawPath(identity)).utf8.prefix(8)) }

  /// Sanitises a path component; nil if nothing is left of it.
  ///
  /// Control characters, slashes, quotes, double dots and bidirectional formatting characters become `_`, and so does a
  /// leading dot or hyphen, which would hide the file or make it look like an option. A long component is cut and
  /// marked with the hash, so that it stays distinct.
  private static func fit(_ part: [UInt8], _ hash: String) -> [UInt8]? {
    var text = ""
    for scalar in String(decoding: part, as: UTF8.self).unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: text += "_"
      default: text.unicodeScalars.append("/\\:*?\"<>|\u{FFFD}".unicodeScalars.contains(scalar) ? "_" : scalar)
      }
    }
    // By scalars: a dot with a combining accent is one Character, which does not equal a dot.
    var scalars = text.unicodeScalars.replacing("..".unicodeScalars, with: "_".unicodeScalars)
    if let first = scalars.first, first == "." || first == "-" {
      scalars.replaceSubrange(..<scalars.index(after: scalars.startIndex), with: "_".unicodeScalars)
    }
    while let last = scalars.last, last == " " || last == "." { scalars.removeLast() }
    text = String(scalars)
    if text.allSatisfy({ $0 == "_" }) { return nil }
    return shortened(Array(text.utf8), to: longestPart, mark: Array(hash.utf8.prefix(8)))
  }

  /// The name cut to at most `length` bytes: its beginning, the mark, and the extension.
  package static func shortened(_ name: [UInt8], to length: Int, mark: [UInt8]) -> [UInt8] {
    name.count > length ? marked(name, to: length, mark: mark) : name
  }

  /// The name with a mark before its extension, cut to at most `length` bytes. A text of more than 16 bytes is no
  /// extension.
  static func marked(_ name: [UInt8], to length: Int, mark: [UInt8]) -> [UInt8] {
    let end = NamingTemplate.end(name)
    let kept = end.count <= 16 && !end.isEmpty ? [UInt8(ascii: ".")] + end : []
    let room = length - mark.count - 1 - kept.count
    let stem = name.dropLast(kept.count)
    var beginning = stem.prefix(room)
    // Do not cut within a UTF-8 sequence.
    while beginning.count < stem.count, let last = beginning.last, last & 0x80 != 0 {
      beginning.removeLast()
      if last & 0xC0 == 0xC0 { break }
    }
    return Array(beginning) + [UInt8(ascii: "-")] + mark + kept
  }
}
