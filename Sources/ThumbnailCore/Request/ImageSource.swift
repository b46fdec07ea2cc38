public import FoundationEssentials
import Glibc
public import HTTPSemantics

/// A source image: its URL, the header fields of its request, and its identity in the cache.
public struct ImageSource: Hashable, Sendable {
  /// The origin of the bytes.
  package enum Origin: Sendable {
    /// The URL and its alternates.
    case web
    /// A local file that the user named. Only then may a `file` URL be read. It is opened by its path, or by a function
    /// that blocks.
    case userFile(open: (@Sendable () throws(SystemFailure) -> OpenFile)?)
    /// The program itself.
    case loader(any ImageLoading)
  }

  /// The values, shared by all copies, because each step of a request copies its source.
  private final class Storage: Sendable {
    let url: URL
    let headers: [HTTPHeader]
    let identity: String
    let origin: Origin
    let key: SourceKey
    /// A digest of the URL alone, for an image on the web. The key itself if it has neither another identity nor
    /// credentials, so that the URL is hashed once.
    let urlDigest: SourceKey
    let alternates: [URL]
    let downloadsPerHost: Int?

    init(
      url: URL, headers: [HTTPHeader], identity: String, origin: Origin, alternates: [URL], downloadsPerHost: Int?
    ) {
      (self.url, self.headers, self.identity, self.origin) = (url, headers, identity, origin)
      (self.alternates, self.downloadsPerHost) = (alternates, downloadsPerHost)
      key = SourceKey(identity: identity, headers: headers)
      let address = url.absoluteString
      let isKey = address == identity && SourceKey.credentials(in: headers).isEmpty
      if case .web = origin, !isKey { urlDigest = SourceKey(identity: address, headers: []) } else { urlDigest = key }
    }
  }

  private let storage: Storage
  /// The address of the bytes: `http`, `https`, or `file` for sources made by `file(at:)`. For others a name for
  /// display.
  public var url: URL { storage.url }
  /// Header fields sent with the request, to the URL's own host only.
  package var headers: [HTTPHeader] { storage.headers }
  /// Identifies the image: two sources with the same identity and credentials are the same image. The URL by default; a
  /// photo source whose URLs change from response to response sets a lasting name.
  package var identity: String { storage.identity }
  /// The origin of the bytes.
  package var origin: Origin { storage.origin }
  /// Whether the source is a local file that the user named.
  package var isUserFile: Bool { if case .userFile = origin { true } else { false } }
  /// The identity and credentials as a digest, computed once.
  package var key: SourceKey { storage.key }
  /// Alternative URLs of the same image, tried in order when the main URL is not found, its server fails, or does not
  /// respond in time. Header fields are sent only to those at the main URL's host.
  package var alternates: [URL] { storage.alternates }
  /// The most concurrent downloads that the image's server allows; nil for the usual limit.
  package var downloadsPerHost: Int? { storage.downloadsPerHost }

  /// An image on the web.
  ///
  /// - Parameters:
  ///   - url: `http` or `https`; anything else fails when it is fetched.
  ///   - headers: Sent with the request. All but `User-Agent` and `Referer` are part of the key, so that no request gets
  ///     an image that was fetched with other credentials.
  ///   - identity: Identifies the image in place of the URL.
  ///   - alternates: Alternative URLs of the same image.
  ///   - downloadsPerHost: The most concurrent downloads that its server allows.
  public init(
    _ url: URL, headers: [HTTPHeader] = [], identity: String? = nil, alternates: [URL] = [],
    downloadsPerHost: Int? = nil
  ) {
    self.init(
      url: url, headers: headers, identity: identity ?? url.absoluteString, origin: .web, alternates: alternates,
      downloadsPerHost: downloadsPerHost)
  }

  /// A local file that the user named.
  ///
  /// Reads the file's length and modification time (one `stat`): a changed file is another image to the cache.
  public static func file(at path: String) -> ImageSource {
    // With `isDirectory: false` Foundation calls no `stat`. The slow standardisation is done only if the path needs it.
    let given = URL(fileURLWithPath: path, isDirectory: false)
    let isPlain = isPlain(path)
    let url = isPlain ? given : given.standardizedFileURL
    var status = stat()
    let state =
      stat(isPlain ? path : url.path, &status) == 0
      ? "\(status.st_size)-\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)" : "?"
    return ImageSource(url: url, headers: [], identity: "\(url.absoluteString)#\(state)", origin: .userFile(open: nil))
  }

  /// Whether a path is absolute, and has no empty or hidden component, and no dots.
  private static func isPlain(_ path: String) -> Bool {
    guard path.utf8.first == RawPath.slash else { return false }
    var last: UInt8 = 0
    for byte in path.utf8 {
      if last == RawPath.slash, byte == RawPath.slash || byte == UInt8(ascii: ".") { return false }
      last = byte
    }
    return true
  }

  /// A local file that the user named by a `file` URL, whose path need not be UTF-8.
  public static func file(at url: URL) -> ImageSource {
    file(at: RawPath(fileURL: url))
  }

  /// A local file that the user named, whose path need not be UTF-8.
  public static func file(at path: RawPath) -> ImageSource {
    if let text = String(validating: path.bytes, as: UTF8.self) { return file(at: text) }
    let prefix = path.bytes.first == RawPath.slash ? "" : FileManager.default.currentDirectoryPath + "/"
    let address = "file://" + RawPath(bytes: Array(prefix.utf8) + path.bytes).percentEncoded
    // All bytes that are not allowed in a URL are percent-encoded.
    guard let url = URL(string: address) else { return file(at: path.description) }
    let state = (try? FileState(of: path)).map { "\($0.byteCount)-\($0.modified)" } ?? "?"
    return ImageSource(url: url, headers: [], identity: "\(address)#\(state)", origin: .userFile(open: nil))
  }

  /// A local file that the user named, which `open` opens for its path.
  package static func file(
    at path: RawPath, in state: FileState, _ open: @escaping @Sendable () throws(SystemFailure) -> OpenFile
  ) -> ImageSource {
    let address = "file://" + path.percentEncoded
    return ImageSource(
      url: URL(string: address) ?? URL(fileURLWithPath: "/"), headers: [],
      identity: "\(address)#\(state.byteCount)-\(state.modified)", origin: .userFile(open: open))
  }

  /// An image on the web, or a local file that the program itself names by a `file` URL.
  package static func named(by url: URL) -> ImageSource { url.isFileURL ? file(at: url) : ImageSource(url) }

  /// An image whose bytes are in memory.
  ///
  /// - Parameter identity: Identifies the image among those in memory; different bytes need a different identity.
  ///   Default: a digest of the bytes, which takes 2 ms for each MB.
  public static func data(_ data: Data, identity: String? = nil) -> ImageSource {
    let name = identity ?? SourceKey(bytes: SHA256.hash(data)).hex
    return named("data", name, origin: .loader(ImageInMemory(data: data)))
  }

  /// An image that the program itself loads.
  ///
  /// - Parameter identity: Identifies the image among those of all loaders, with its version, such as a revision or a
  ///   date. Thumbnails are never stale, so a changed image needs another identity.
  public static func loaded(by loader: any ImageLoading, identity: String) -> ImageSource {
    named("loader", identity, origin: .loader(loader))
  }

  /// A source whose URL is a name for display. Its identity contains a space, which no URL contains: a foreign URL
  /// `loader:a` must not find the cached thumbnails of the program's own image `a`.
  private static func named(_ scheme: String, _ identity: String, origin: Origin) -> ImageSource {
    var components = URLComponents()
    (components.scheme, components.path) = (scheme, identity)
    let url = components.url ?? URL(fileURLWithPath: "/")
    return ImageSource(url: url, headers: [], identity: "\(scheme) \(identity)", origin: origin)
  }

  private init(
    url: URL, headers: [HTTPHeader], identity: String, origin: Origin, alternates: [URL] = [],
    downloadsPerHost: Int? = nil
  ) {
    storage = Storage(
      url: url, headers: headers, identity: identity, origin: origin, alternates: alternates,
      downloadsPerHost: downloadsPerHost)
  }

  /// A digest of one of its URLs, which distinguishes the server-side sizes of one image.
  package func digest(of url: URL) -> SourceKey {
    url == self.url ? storage.urlDigest : SourceKey(identity: url.absoluteString, headers: [])
  }

  /// Identifies the body of one of its URLs: server-side sizes of one image share its identity, but not its body.
  package func bodyKey(of url: URL) -> SourceKey {
    let address = url.absoluteString
    return address == identity ? key : SourceKey(identity: "\(identity)\n\(address)", headers: headers)
  }

  /// Sources are equal when they are the same image to the cache.
  public static func == (lhs: ImageSource, rhs: ImageSource) -> Bool { lhs.key == rhs.key }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
