public import Foundation

/// A copy of Unsplash's API on loopback, with the oddities of the real one, and the photos themselves.
///
///     let unsplash = try UnsplashOrigin(directory: gallery)
///     // thumbs prefetch --provider unsplash --provider-url \(unsplash.baseURL), UNSPLASH_ACCESS_KEY=\(unsplash.accessKey)
///
/// Like the real one it gives at most 30 photos a page whatever is asked, says that there are none at all beyond the
/// last page, and answers a used-up limit with a 403 in plain text. The `ixid` in a photo's URL is another with every
/// answer. Unlike the real one it serves pictures as they are: `w`, `h` and the like are written down, not obeyed.
public final class UnsplashOrigin: Sendable {
  /// A photo of the collection.
  public typealias Picture = OriginPicture

  /// The server, with its log.
  public let origin: Origin
  /// The key that is accepted.
  public var accessKey: String { api.accessKey }
  /// What to give as the address of the API.
  public var baseURL: URL { origin.url("") }
  /// The requests to the API, without those for pictures, in the order they came.
  public var apiRequests: [OriginRecord] { origin.requests.filter { !$0.path.hasPrefix("/images/") } }
  /// The requests for pictures, in the order they came.
  public var imageRequests: [OriginRecord] { origin.requests.filter { $0.path.hasPrefix("/images/") } }

  private let api: UnsplashAnswers

  /// Serves a collection of photos.
  ///
  /// - Parameters:
  ///   - hourlyLimit: How many requests are answered before the limit is used up.
  ///   - gate: What holds a picture's file back, by the picture's id.
  public init(
    pictures: [Picture], accessKey: String = "test-access-key", hourlyLimit: Int = 5000,
    heldBy gate: @escaping @Sendable (_ id: String) -> Gate? = { _ in nil }
  ) throws {
    let api = UnsplashAnswers(pictures: pictures, accessKey: accessKey, hourlyLimit: hourlyLimit)
    self.api = api
    origin = try Origin { request in
      let response = api.response(to: request)
      let prefix = "/images/photo-"
      guard request.path.hasPrefix(prefix), let gate = gate(String(request.path.dropFirst(prefix.count))) else {
        return response
      }
      return response.held(by: gate)
    }
  }

  /// Serves the JPEG and PNG files of a folder and its subfolders, in order of their paths. A path's words are a photo's
  /// description, and what queries find.
  public convenience init(
    directory: URL, accessKey: String = "test-access-key", hourlyLimit: Int = 5000
  ) throws {
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

  /// Answers the next requests to the API with these, one after the other, before it works again.
  public func failNext(with responses: OriginResponse...) {
    api.fail(with: responses)
  }
}
