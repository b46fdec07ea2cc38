import Foundation
import HTTPTransport
import ThumbnailCore

/// A provider as specified by the user: `auto`, `folder:PATH`, `unsplash`, `pexels`, `commons`, `openverse` or
/// `picsum`.
public enum ProviderSpecification: Hashable, Sendable {
  /// Unsplash or Pexels, whichever has its access key set, in this order; else Wikimedia Commons, with Openverse as its
  /// fallback.
  case auto
  /// The images of a folder; a relative path is resolved against the current directory.
  case folder(path: String)
  /// The photos of unsplash.com.
  case unsplash
  /// The photos of pexels.com.
  case pexels
  /// The photos of Wikimedia Commons.
  case commons
  /// The photos that Openverse indexes.
  case openverse
  /// The images of Lorem Picsum.
  case picsum

  /// The environment variable that holds the access key of Unsplash.
  public static let unsplashKeyVariable = "UNSPLASH_ACCESS_KEY"
  /// The environment variable that holds the access key of Pexels.
  public static let pexelsKeyVariable = "PEXELS_API_KEY"

  /// The environment variables of access keys, and where to get a key, by provider name.
  static let keys = [
    UnsplashProvider.name: (variable: unsplashKeyVariable, page: "https://unsplash.com/developers"),
    PexelsProvider.name: (variable: pexelsKeyVariable, page: "https://www.pexels.com/api/"),
  ]

  private static let byName: [String: ProviderSpecification] = [
    "auto": .auto, UnsplashProvider.name: .unsplash, PexelsProvider.name: .pexels, CommonsProvider.name: .commons,
    OpenverseProvider.name: .openverse, PicsumProvider.name: .picsum,
  ]

  /// Parses a specification. A path may begin with `~/`, which shells do not expand after the colon.
  ///
  /// - Throws: `ProviderError.unknownProvider` for anything else.
  public init(parsing text: String) throws(ProviderError) {
    let prefix = "folder:"
    if let known = Self.byName[text] {
      self = known
    } else if text.hasPrefix(prefix), text.count > prefix.count {
      self = .folder(path: Self.expandingHome(String(text.dropFirst(prefix.count))))
    } else {
      throw .unknownProvider(text)
    }
  }

  /// The specified provider.
  ///
  /// - Parameters:
  ///   - environment: The environment variables, which hold the access keys.
  ///   - baseURL: The URL of the provider's API, if not its own.
  ///   - client: Sends the API requests.
  ///   - namesContact: Whether the client's `User-Agent` names a contact.
  ///   - application: The name of the application, for links to Unsplash.
  ///   - formats: The file name extensions of images in a folder; by default those decoded in process.
  ///   - clock: The provider's clock.
  func provider(
    environment: [String: String], baseURL: String? = nil, client: any HTTPClient, namesContact: Bool = true,
    application: String = "thumbs", formats: Set<ImageFormat>? = nil, clock: ProviderClock = ProviderClock()
  ) throws(ProviderError) -> any PhotoProvider {
    func address(_ standard: String) throws(ProviderError) -> URL { try Self.address(baseURL ?? standard) }
    func key(of provider: String) throws(ProviderError) -> AccessKey? {
      guard let (variable, page) = Self.keys[provider], let text = environment[variable],
        !text.allSatisfy(\.isWhitespace)
      else { return nil }
      guard let key = AccessKey(text) else { throw .keyUnusable(provider: provider, variable: variable, page: page) }
      return key
    }
    func neededKey(of provider: String) throws(ProviderError) -> AccessKey {
      if let key = try key(of: provider) { return key }
      guard let (variable, page) = Self.keys[provider] else { throw .unauthorized(provider: provider) }
      throw .keyMissing(provider: provider, variable: variable, page: page)
    }

    func commons() throws(ProviderError) -> CommonsProvider {
      CommonsProvider(
        baseURL: try address(CommonsProvider.defaultBaseURL), namesContact: namesContact, client: client, clock: clock)
    }

    func unsplash(_ key: AccessKey) throws(ProviderError) -> UnsplashProvider {
      UnsplashProvider(
        accessKey: key, baseURL: try address(UnsplashProvider.defaultBaseURL), application: application, client: client,
        clock: clock)
    }
    func pexels(_ key: AccessKey) throws(ProviderError) -> PexelsProvider {
      PexelsProvider(
        accessKey: key, baseURL: try address(PexelsProvider.defaultBaseURL), client: client, clock: clock)
    }

    switch self {
    case .auto:
      if let key = try key(of: UnsplashProvider.name) { return try unsplash(key) }
      if let key = try key(of: PexelsProvider.name) { return try pexels(key) }
      return AutoProvider(
        try commons(),
        OpenverseProvider(baseURL: try address(OpenverseProvider.defaultBaseURL), client: client, clock: clock))
    case .unsplash:
      return try unsplash(neededKey(of: UnsplashProvider.name))
    case .pexels:
      return try pexels(neededKey(of: PexelsProvider.name))
    case .commons:
      return try commons()
    case .openverse:
      return OpenverseProvider(baseURL: try address(OpenverseProvider.defaultBaseURL), client: client, clock: clock)
    case .picsum:
      return PicsumProvider(baseURL: try address(PicsumProvider.defaultBaseURL), client: client, clock: clock)
    case .folder(let path):
      guard baseURL == nil else {
        throw .unsupported(provider: "folder", reason: "a folder has no URL; leave out the provider's URL")
      }
      return FolderProvider(path: path, extensions: formats.map { Set($0.flatMap(\.fileExtensions)) })
    }
  }

  private static func address(_ text: String) throws(ProviderError) -> URL {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
      let host = url.host(), !host.isEmpty
    else { throw .invalidAddress(text) }
    return url
  }

  private static func expandingHome(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/") else { return path }
    return FileManager.default.homeDirectoryForCurrentUser.path + path.dropFirst()
  }
}
