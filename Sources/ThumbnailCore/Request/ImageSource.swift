public import Foundation
public import HTTPSemantics

/// A picture: where its bytes are, what is sent to get them, and what it is known by in the cache.
public struct ImageSource: Hashable, Sendable {
  /// Where the bytes are: `http`, `https`, or `file` for sources made by `file(at:)`.
  public let url: URL
  /// Header fields sent with the request, to the URL's own host only.
  public let headers: [HTTPHeader]
  /// What the picture is known by: two sources of one identity and the same credentials are one picture. By default the
  /// URL; a photo source whose URLs change from answer to answer sets a lasting name.
  public let identity: String
  /// Whether the source is a local file that the user named. Only then may a `file` URL be read.
  public let isUserFile: Bool
  /// The identity and credentials as a digest, ready for look-ups.
  public let key: SourceKey
  /// Where else the same picture is to be had: asked in their order when the URL does not give it, because it is not
  /// there, its server fails, or does not answer in time. The header fields go to those at the URL's own host only.
  public let alternates: [URL]
  /// The most downloads at once that the server of the picture wants to be asked for; nil for as many as usual.
  public let downloadsPerHost: Int?

  /// A picture on the web.
  ///
  /// - Parameters:
  ///   - url: `http` or `https`; anything else fails when it is fetched.
  ///   - headers: Sent with the request. All but `User-Agent` and `Referer` keep the picture apart from the same URL
  ///     asked with others, so that nobody sees what they may not.
  ///   - identity: What the picture is known by, where the URL is not it.
  ///   - alternates: Where else the same picture is to be had.
  ///   - downloadsPerHost: The most downloads at once that its server wants to be asked for.
  public init(
    _ url: URL, headers: [HTTPHeader] = [], identity: String? = nil, alternates: [URL] = [],
    downloadsPerHost: Int? = nil
  ) {
    self.init(
      url: url, headers: headers, identity: identity ?? url.absoluteString, isUserFile: false, alternates: alternates,
      downloadsPerHost: downloadsPerHost)
  }

  /// A local file that the user named.
  ///
  /// Looks up the file's length and time of modification (one `stat`): a changed file is another picture to the cache.
  public static func file(at path: String) -> ImageSource {
    // Told that it is no folder, Foundation does not look itself; and it takes a path apart only if there is need to.
    let given = URL(fileURLWithPath: path, isDirectory: false)
    let isPlain = path.hasPrefix("/") && !path.contains("/.") && !path.contains("//")
    let url = isPlain ? given : given.standardizedFileURL
    var status = stat()
    let state =
      stat(url.path, &status) == 0
      ? "\(status.st_size)-\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)" : "?"
    return ImageSource(url: url, headers: [], identity: "\(url.absoluteString)#\(state)", isUserFile: true)
  }

  /// A local file that the user named by a `file` URL, whose path need not be UTF-8.
  public static func file(at url: URL) -> ImageSource {
    file(at: RawPath(fileURL: url))
  }

  /// A local file that the user named, whose path need not be UTF-8.
  public static func file(at path: RawPath) -> ImageSource {
    if let text = String(validating: path.bytes, as: UTF8.self) { return file(at: text) }
    let prefix = path.bytes.first == RawPath.slash ? "" : FileManager.default.currentDirectoryPath + "/"
    var address = "file://"
    for byte in Array(prefix.utf8) + path.bytes {
      let isPlain = isalnum(Int32(byte)) != 0 && byte < 0x80 || "/-_.~".utf8.contains(byte)
      address += isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    // All that a URL does not have is written in digits.
    guard let url = URL(string: address) else { return file(at: path.description) }
    let state = (try? FileState(of: path)).map { "\($0.byteCount)-\($0.modified)" } ?? "?"
    return ImageSource(url: url, headers: [], identity: "\(address)#\(state)", isUserFile: true)
  }

  private init(
    url: URL, headers: [HTTPHeader], identity: String, isUserFile: Bool, alternates: [URL] = [],
    downloadsPerHost: Int? = nil
  ) {
    self.url = url
    self.headers = headers
    self.identity = identity
    self.isUserFile = isUserFile
    self.alternates = alternates
    self.downloadsPerHost = downloadsPerHost
    key = SourceKey(identity: identity, headers: headers)
  }

  /// Sources are equal when they are the same picture to the cache.
  public static func == (lhs: ImageSource, rhs: ImageSource) -> Bool { lhs.key == rhs.key }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
