import Foundation
import HTTPTransport
import ThumbnailCore

/// A provider as specified by the user: `folder:PATH`, `unsplash`, `pexels` or `commons`, or one of these services at
/// another address: `commons:https://wiki.example.org/w/api.php`.
public enum ProviderSpecification: Hashable, Sendable {
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
  /// A service at another address than its own, such as a proxy or another wiki.
  indirect case service(ProviderSpecification, at: String)

  /// The environment variable that holds the access key of Unsplash.
  package static let unsplashKeyVariable = "UNSPLASH_ACCESS_KEY"
  /// The environment variable that holds the access key of Pexels.
  package static let pexelsKeyVariable = "PEXELS_API_KEY"

  /// The environment variables of access keys, and where to get a key, by provider name.
  static let keys = [
    "unsplash": (variable: unsplashKeyVariable, page: "https://unsplash.com/developers"),
    "pexels": (variable: pexelsKeyVariable, page: "https://www.pexels.com/api/"),
  ]

  private static let byName: [String: ProviderSpecification] = [
    "unsplash": .unsplash, "pexels": .pexels, "commons": .commons,
  ]

  /// Unsplash or Pexels where its access key is set, else Wikimedia Commons.
  public static func preferred(environment: [String: String]) -> ProviderSpecification {
    let isSet = { (variable: String) in environment[variable]?.allSatisfy(\.isWhitespace) == false }
    return isSet(unsplashKeyVariable) ? .unsplash : isSet(pexelsKeyVariable) ? .pexels : .commons
  }

  /// Parses a specification. A path may begin with `~/`, which shells do not expand after the colon.
  ///
  /// - Throws: `ProviderError.unknownProvider` for anything else.
  public init(parsing text: String) throws(ProviderError) {
    let parts = text.split(separator: ":", maxSplits: 1).map { String($0) }
    if let known = Self.byName[text] {
      self = known
    } else if parts.count == 2, parts[0] == "folder" {
      self = .folder(path: Self.expandingHome(parts[1]))
    } else if parts.count == 2, let known = Self.byName[parts[0]] {
      self = .service(known, at: parts[1])
    } else {
      throw .unknownProvider(text)
    }
  }

  /// The specified provider.
  ///
  /// - Parameters:
  ///   - environment: The environment variables, which hold the access keys.
  ///   - client: Sends the API requests.
  ///   - namesContact: Whether the client's `User-Agent` names a contact.
  ///   - application: The name of the application, for links to Unsplash.
  ///   - formats: The file name extensions of images in a folder; by default those decoded in process.
  ///   - clock: The provider's clock.
  func provider(
    environment: [String: String], client: any HTTPClient, namesContact: Bool = true, application: String = "thumbs",
    formats: Set<ImageFormat>? = nil, clock: ProviderClock = ProviderClock()
  ) throws(ProviderError) -> any PhotoProvider {
    var (known, other): (Self, String?) = (self, nil)
    if case .service(let service, let address) = self { (known, other) = (service, address) }
    func provider(_ service: PhotoService) throws(ProviderError) -> ServiceProvider {
      let (name, address) = (service.dialect.name, other ?? service.baseURL)
      var key: AccessKey?
      if let (variable, page) = Self.keys[name] {
        let text = environment[variable] ?? ""
        if text.allSatisfy(\.isWhitespace) { throw .keyMissing(provider: name, variable: variable, page: page) }
        key = AccessKey(text)
        if key == nil { throw .keyUnusable(provider: name, variable: variable, page: page) }
      }
      guard let url = URL(web: address) else { throw .invalidAddress(address) }
      return ServiceProvider(service, baseURL: url, key: key, client: client, clock: clock)
    }

    switch known {
    case .unsplash: return try provider(.unsplash(application: application))
    case .pexels: return try provider(.pexels)
    case .commons: return try provider(.commons(namesContact: namesContact))
    case .service(let service, _): throw .unknownProvider("\(service)")
    case .folder(let path):
      return FolderProvider(path: path, extensions: formats.map { Set($0.flatMap(\.fileExtensions)) })
    }
  }

  private static func expandingHome(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/") else { return path }
    return FileManager.default.homeDirectoryForCurrentUser.path + path.dropFirst()
  }
}
