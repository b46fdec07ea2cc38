public import Foundation
import ThumbnailCore

/// What the names of a picture's thumbnails are made of, taken from where the picture comes from.
///
/// Names of strangers are made fit for files: whatever they hold, the path stays below its folder, in folders and files
/// that a person can see, type and remove.
public struct PictureName: Sendable, Equatable {
  /// Folders for the picture, empty or with a slash at the end.
  let folder: [UInt8]
  /// The name with its end.
  let name: [UInt8]
  /// What tells the picture from all others.
  let identity: String

  /// The longest part of a path that is taken from a stranger's name, in bytes; file systems take 255.
  private static let longestPart = 150
  /// The most of the folders' path that is taken, in bytes.
  private static let longestFolder = 600

  /// The name of a picture on the web: its host and the folders of its address, then the last part of that. Of a local
  /// file: the folder that it lies in and its own name, so that no tree of this machine's folders is made.
  ///
  /// - Parameter identity: What tells it from others; nil for the whole URL.
  public init(_ url: URL, identity: String? = nil) {
    let path = url.path(percentEncoded: true).split(separator: "/").map { RawPath(percentEncoded: String($0)).bytes }
    let host = Array((url.host(percentEncoded: false) ?? "").utf8)
    let folders = url.isFileURL ? Array(path.dropLast().suffix(1)) : [host] + path.dropLast()
    self.init(folders: folders, name: path.last ?? [], identity: identity ?? url.absoluteString)
  }

  /// The name of a picture by its path below the folder that it was found in, or by the id that a photo service gives it.
  public init(_ path: String, identity: String) {
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

  /// What a template works with. The hash is that of the identity: there need not be a path.
  var templateSource: NamingTemplate.Source {
    NamingTemplate.Source(folder: folder, name: name, absolutePath: RawPath(identity))
  }

  /// A few digits that tell the picture from others of its name.
  var mark: [UInt8] { Array(NamingTemplate.hash(RawPath(identity)).utf8.prefix(8)) }

  /// One part of a path without what a file's name must not or should not have; nil for one that is nothing then.
  ///
  /// Control characters, slashes, quotes, two dots and what turns text around become `_`, and so does a dot or hyphen at
  /// the start, which would hide the file or make it look like an option. A long one is cut, and marked so that it stays different
  /// from others that begin alike.
  private static func fit(_ part: [UInt8], _ hash: String) -> [UInt8]? {
    var text = ""
    for scalar in String(decoding: part, as: UTF8.self).unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: text += "_"
      default: text.unicodeScalars.append("/\\:*?\"<>|\u{FFFD}".unicodeScalars.contains(scalar) ? "_" : scalar)
      }
    }
    text = text.replacing("..", with: "_")
    if let first = text.first, ".-".contains(first) { text = "_" + text.dropFirst() }
    while text.last == " " || text.last == "." { text.removeLast() }
    if text.allSatisfy({ $0 == "_" }) { return nil }
    return shortened(Array(text.utf8), to: longestPart, mark: Array(hash.utf8.prefix(8)))
  }

  /// A name of at most `length` bytes: the beginning, the mark, and the end behind the last dot.
  package static func shortened(_ name: [UInt8], to length: Int, mark: [UInt8]) -> [UInt8] {
    guard name.count > length else { return name }
    let end = NamingTemplate.end(name)
    let kept = end.count <= 16 && !end.isEmpty ? [UInt8(ascii: ".")] + end : []
    var beginning = name.prefix(length - mark.count - 1 - kept.count)
    // Not in the middle of a character.
    while let last = beginning.last, last & 0x80 != 0 {
      beginning.removeLast()
      if last & 0xC0 == 0xC0 { break }
    }
    return Array(beginning) + [UInt8(ascii: "-")] + mark + kept
  }
}
