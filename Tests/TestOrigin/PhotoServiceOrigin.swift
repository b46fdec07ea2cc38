public import Foundation
import Synchronization

/// A fake photo service on loopback, with the quirks of the real one, and its photos. See `commons` and
/// `pexels`. Images are served as they are: requested sizes are logged but ignored.
public final class PhotoServiceOrigin: Sendable {
  /// The server, with its log.
  public let origin: Origin
  /// The base URL for the provider.
  public var baseURL: URL { origin.url("") }
  /// The requests to the API, without those for images, in order of arrival.
  public var apiRequests: [OriginRecord] { origin.requests.filter { isAPI($0.path) } }
  /// The requests for images, in order of arrival.
  public var imageRequests: [OriginRecord] { origin.requests.filter { !isAPI($0.path) } }

  private let isAPI: @Sendable (String) -> Bool
  private let faults: Faults

  /// Starts serving.
  ///
  /// - Parameters:
  ///   - isAPI: Whether a path is the API's. All others are images.
  ///   - answer: Handles both.
  init(
    isAPI: @escaping @Sendable (String) -> Bool, answer: @escaping @Sendable (OriginRequest) -> OriginResponse
  ) throws {
    let faults = Faults()
    self.isAPI = isAPI
    self.faults = faults
    origin = try Origin { request in (isAPI(request.path) ? faults.next() : nil) ?? answer(request) }
  }

  /// Sends these responses to the next API requests, in order, before normal operation resumes.
  public func failNext(with responses: OriginResponse...) { faults.add(responses) }

  private final class Faults: Sendable {
    private let waiting = Mutex<[OriginResponse]>([])

    func add(_ responses: [OriginResponse]) { waiting.withLock { $0 += responses } }
    func next() -> OriginResponse? { waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
  }
}

/// A page of a list with page numbers.
struct NumberedPage {
  let number: Int
  let size: Int
  let pages: Int
  let items: ArraySlice<OriginPicture>

  init(of pictures: [OriginPicture], number: String?, size: String?, standardSize: Int, largestSize: Int) {
    self.number = max(number.flatMap { Int($0) } ?? 1, 1)
    let wanted = size.flatMap { Int($0) } ?? standardSize
    self.size = min(max(wanted, 1), largestSize)
    pages = (pictures.count + self.size - 1) / self.size
    items = pictures.dropFirst((self.number - 1) * self.size).prefix(self.size)
  }
}
