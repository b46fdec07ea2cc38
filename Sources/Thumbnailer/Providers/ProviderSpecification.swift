import Foundation

/// The name of a provider as a person writes it: `auto`, `folder:PATH` or `unsplash`.
public enum ProviderSpecification: Hashable, Sendable {
  /// Whichever is set up: Unsplash, when `UNSPLASH_ACCESS_KEY` is set.
  case auto
  /// The pictures of a folder; the path is absolute or counts from the current directory.
  case folder(path: String)
  /// The photos of unsplash.com.
  case unsplash

  /// The environment variable that holds the access key of Unsplash.
  public static let unsplashKeyVariable = "UNSPLASH_ACCESS_KEY"
  static let unsplashKeyPage = "https://unsplash.com/developers"

  /// Reads a name. A path may begin with `~/`, which shells leave alone behind the colon.
  ///
  /// - Throws: `ProviderError.unknownProvider` for anything else.
  public init(parsing text: String) throws(ProviderError) {
    let prefix = "folder:"
    switch text {
    case "auto": self = .auto
    case UnsplashProvider.name: self = .unsplash
    case _ where text.hasPrefix(prefix) && text.count > prefix.count:
      self = .folder(path: Self.expandingHome(String(text.dropFirst(prefix.count))))
    default: throw .unknownProvider(text)
    }
  }

  /// The provider that is meant.
  ///
  /// - Parameters:
  ///   - environment: The environment variables, where access keys are.
  ///   - baseURL: Where to reach the provider's API, when not at its own address.
  ///   - client: Fetches the answers of APIs.
  ///   - formats: What counts as a picture in a folder; by default what is read in process.
  func provider(
    environment: [String: String], baseURL: String? = nil, client: any HTTPClient, formats: Set<ImageFormat>? = nil
  ) throws(ProviderError) -> any PhotoProvider {
    let key = environment[Self.unsplashKeyVariable].flatMap { AccessKey($0) }
    switch self {
    case .auto where key == nil:
      throw .nothingConfigured
    case .auto, .unsplash:
      guard let key else {
        throw .keyMissing(
          provider: UnsplashProvider.name, variable: Self.unsplashKeyVariable, page: Self.unsplashKeyPage)
      }
      return UnsplashProvider(
        accessKey: key, baseURL: try Self.address(baseURL ?? UnsplashProvider.defaultBaseURL), client: client)
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
