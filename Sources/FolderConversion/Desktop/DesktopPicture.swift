import CGLib
import Foundation
import ThumbnailCore

/// A picture as the desktop's shared thumbnails know it: by its URI, modification time and length.
///
/// Source: freedesktop.org, Thumbnail Managing Standard 0.9.
struct DesktopPicture: Sendable {
  /// The sizes of shared thumbnails: the length of the longer side, and the name of their folder.
  static let sizes: [(side: Int, folder: String)] = [
    (128, "normal"), (256, "large"), (512, "x-large"), (1024, "xx-large"),
  ]

  /// The `file` URI of the path, as GLib and with it every file manager makes it.
  let uri: String
  /// The URI that thumbnails in the picture's own folder, `.sh_thumbnails`, have.
  let sharedURI: String
  /// The canonical path. Links are kept, as file managers keep them.
  let path: RawPath
  private let state: FileState

  /// Nil for a path that has no URI.
  init?(_ path: RawPath, state: FileState) {
    guard let whole = Self.canonical(path), let uri = whole.withCString({ g_filename_to_uri($0, nil, nil) }) else {
      return nil
    }
    defer { g_free(uri) }
    (self.uri, self.path) = (String(cString: uri), whole)
    sharedURI = "./" + self.uri[(self.uri.lastIndex(of: "/").map(self.uri.index(after:)) ?? self.uri.startIndex)...]
    self.state = state
  }

  /// The absolute path without `.`, `..` and repeated slashes.
  static func canonical(_ path: RawPath) -> RawPath? {
    guard let whole = path.withCString({ g_canonicalize_filename($0, nil) }) else { return nil }
    defer { g_free(whole) }
    return RawPath(bytes: UnsafeBufferPointer(start: whole, count: strlen(whole)).map { UInt8(bitPattern: $0) })
  }

  /// The name of its thumbnails' files.
  var name: String { Self.name(of: uri) }

  /// The folder of thumbnails that travel with the picture, as on a disc.
  var sharedFolder: RawPath { RawPath(bytes: path.folder).appending(".sh_thumbnails".utf8) }

  static func name(of uri: String) -> String {
    // Memory is all that it needs.
    guard let digest = g_compute_checksum_for_string(G_CHECKSUM_MD5, uri, -1) else { return "" }
    defer { g_free(digest) }
    return String(cString: digest) + ".png"
  }

  /// Whether the texts of a thumbnail are those of this picture as it is now.
  func isShown(by texts: [String: String], uri: String? = nil) -> Bool {
    texts["Thumb::URI"] == uri ?? self.uri && texts["Thumb::MTime"] == "\(seconds)"
      && texts["Thumb::Size"].map { $0 == "\(state.byteCount)" } ?? true
  }

  /// Its thumbnail with the texts that tell whose it is. `source` is nil for the record of a failure.
  ///
  /// Tumbler compares the time to the microsecond and takes the first text of that name, of any kind. GLib compares
  /// seconds and skips texts that are not Latin: each finds its own.
  func thumbnail(_ png: Data, _ source: SourceDescription?) -> Data {
    let exact = seconds < 0 ? 0 : state.modificationTime.tv_nsec / 1000
    let time = "\(seconds)." + String(repeating: "0", count: 6 - "\(exact)".count) + "\(exact)"
    return PNGTexts.adding(texts(source), international: exact > 0 ? [("Thumb::MTime", time)] : [], to: png)
  }

  private func texts(_ source: SourceDescription?) -> [(key: String, value: String)] {
    var texts = [
      ("Thumb::URI", uri), ("Thumb::MTime", "\(seconds)"), ("Thumb::Size", "\(state.byteCount)"),
      ("Software", DesktopFolder.software),
    ]
    if let source {
      texts += [
        ("Thumb::Mimetype", source.format.mediaType), ("Thumb::Image::Width", "\(source.size.width)"),
        ("Thumb::Image::Height", "\(source.size.height)"),
      ]
    }
    return texts
  }

  /// The modification time in whole seconds since 1970, rounded down.
  private var seconds: Int { state.modificationTime.tv_sec }
}
