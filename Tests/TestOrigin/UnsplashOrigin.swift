public import Foundation

/// A fake of Unsplash's API on loopback, with the quirks of the real one, and its photos.
///
///     let unsplash = try UnsplashOrigin(directory: gallery)
///     // thumbs prefetch --provider unsplash:\(unsplash.baseURL), UNSPLASH_ACCESS_KEY=\(unsplash.accessKey)
///
/// Like the real one it returns at most 30 photos a page, reports a total of 0 beyond the last page, and signals an
/// exceeded rate limit by a 403 in plain text. The `ixid` in a photo's URL differs in every response. Unlike the real
/// one it serves images as they are: `w`, `h` and the like are logged but ignored.
public final class UnsplashOrigin: Sendable {
  /// A photo of the service.
  public typealias Picture = OriginPicture

  /// The server, with its log.
  public let origin: Origin
  /// The accepted key.
  public var accessKey: String { api.accessKey }
  /// The base URL for the provider.
  public var baseURL: URL { origin.url("") }
  /// The requests to the API, without those for images, in order of arrival.
  public var apiRequests: [OriginRecord] { origin.requests.filter { !$0.path.hasPrefix("/images/") } }
  /// The requests for images, in order of arrival.
  public var imageRequests: [OriginRecord] { origin.requests.filter { $0.path.hasPrefix("/images/") } }

  private let api: UnsplashAnswers

  /// Serves these photos.
  ///
  /// - Parameters:
  ///   - hourlyLimit: The number of requests before the rate limit is exceeded.
  ///   - perPage: The most photos a page.
  public init(
    pictures: [Picture], accessKey: String = "test-access-key", hourlyLimit: Int = 5000, perPage: Int = 30
  ) throws {
    let api = UnsplashAnswers(pictures: pictures, accessKey: accessKey, hourlyLimit: hourlyLimit, perPage: perPage)
    self.api = api
    origin = try Origin { request in api.response(to: request) }
  }

  /// Serves the JPEG and PNG files of a folder and its subfolders, sorted by path. The words of the path are the
  /// photo's description, which queries search.
  public convenience init(directory: URL, accessKey: String = "test-access-key", hourlyLimit: Int = 5000) throws {
    let paths = (FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []).sorted()
    let pictures = try paths.compactMap { path -> Picture? in
      let type = OriginFiles.contentType(of: path)
      guard ["image/jpeg", "image/png"].contains(type) else { return nil }
      let body = [UInt8](try Data(contentsOf: directory.appending(path: path)))
      let size = PictureHeader.size(of: body) ?? (6000, 4000)
      return Picture(
        id: "", description: path.map { "/-_".contains($0) ? " " : String($0) }.joined(), width: size.width,
        height: size.height, body: body, type: type)
    }
    try self.init(
      pictures: pictures.enumerated().map { number, picture in
        var picture = picture
        picture.id = "tst_\(number + 1)"
        return picture
      }, accessKey: accessKey, hourlyLimit: hourlyLimit)
  }

  /// Sends these responses to the next API requests, in order, before normal operation resumes.
  public func failNext(with responses: OriginResponse...) {
    api.fail(with: responses)
  }
}
