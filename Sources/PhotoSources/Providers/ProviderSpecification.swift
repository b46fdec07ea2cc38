import Foundation
import HTTPTransport
import ThumbnailCore

/// A provider as specified by the user: `auto`, `folder:PATH`, `unsplash`, `pexels`, `commons`, `openverse` or
/// `picsum`.
public enum ProviderSpecification: Hashable, Sendable {
  /// The first of Unsplash and Pexels whose access key is set; else Wikimedia Commons, with Openverse as its fallback.
  case auto
  /// The images of a folder; a relative path is resolved against the current directory.
  case folder(path: String)
  /// The photos of unsplash.com: 30 a page, and random ones; needs a key.
  ///
  /// Show photos with `attribution`, linked to `authorURL` and `pageURL`, and report uses with `reportUse(of:)`. Views
  /// are counted by Unsplash's image server, by the `ixid` in the URL.
  case unsplash
  /// The photos of pexels.com: 80 a page; needs a key. Show photos with `attribution`, linked to `authorURL` and
  /// `pageURL`.
  case pexels
  /// The photos of Wikimedia Commons: 50 a page, and random ones. It needs a `User-Agent` that names a contact.
  ///
  /// Each photo has its own licence: show it with `attribution` and `licence`, linked to `pageURL`.
  case commons
  /// The openly licensed photos of many sites that Openverse indexes: 20 a page, each with its own licence like those of
  /// Commons. A search ends after 240 photos, and there is a limit of 200 requests a day.
  case openverse
  /// The images of Lorem Picsum (picsum.photos): about a thousand photos from Unsplash for demonstrations, 100 a page,
  /// and random ones. It has no search.
  case picsum

  /// The environment variable that holds the access key of Unsplash.
  public static let unsplashKeyVariable = "UNSPLASH_ACCESS_KEY"
  /// The environment variable that holds the access key of Pexels.
  public static let pexelsKeyVariable = "PEXELS_API_KEY"

  /// The environment variables of access keys, and where to get a key, by provider name.
  static let keys = [
    "unsplash": (variable: unsplashKeyVariable, page: "https://unsplash.com/developers"),
    "pexels": (variable: pexelsKeyVariable, page: "https://www.pexels.com/api/"),
  ]

  private static let byName: [String: ProviderSpecification] = [
    "auto": .auto, "unsplash": .unsplash, "pexels": .pexels, "commons": .commons, "openverse": .openverse,
    "picsum": .picsum,
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
    func key(of name: String) throws(ProviderError) -> AccessKey? {
      guard let (variable, page) = Self.keys[name], let text = environment[variable], !text.allSatisfy(\.isWhitespace)
      else { return nil }
      guard let key = AccessKey(text) else { throw .keyUnusable(provider: name, variable: variable, page: page) }
      return key
    }
    func provider(_ service: PhotoService) throws(ProviderError) -> ServiceProvider {
      let (name, address) = (service.dialect.name, baseURL ?? service.baseURL)
      let key = try key(of: name)
      if key == nil, let (variable, page) = Self.keys[name] {
        throw .keyMissing(provider: name, variable: variable, page: page)
      }
      guard let url = URL(web: address) else { throw .invalidAddress(address) }
      return ServiceProvider(service, baseURL: url, key: key, client: client, clock: clock)
    }

    let unsplash = PhotoService.unsplash(application: application)
    let commons = PhotoService.commons(namesContact: namesContact)
    switch self {
    case .auto:
      for service in [unsplash, .pexels] where try key(of: service.dialect.name) != nil { return try provider(service) }
      return AutoProvider(try provider(commons), try provider(.openverse))
    case .unsplash: return try provider(unsplash)
    case .pexels: return try provider(.pexels)
    case .commons: return try provider(commons)
    case .openverse: return try provider(.openverse)
    case .picsum: return try provider(.picsum)
    case .folder(let path):
      guard baseURL == nil else {
        throw .unsupported(provider: "folder", reason: "a folder has no URL; leave out the provider's URL")
      }
      return FolderProvider(path: path, extensions: formats.map { Set($0.flatMap(\.fileExtensions)) })
    }
  }

  private static func expandingHome(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/") else { return path }
    return FileManager.default.homeDirectoryForCurrentUser.path + path.dropFirst()
  }
}
