public import Foundation
import Synchronization

/// A copy of a photo service on loopback, with the oddities of the real one, and the photos themselves. See `commons`,
/// `openverse`, `pexels` and `picsum`. They serve pictures as they are: sizes are written down, not obeyed.
public final class PhotoServiceOrigin: Sendable {
  /// The server, with its log.
  public let origin: Origin
  /// What to give as the address of the API.
  public var baseURL: URL { origin.url("") }
  /// The requests to the API, without those for pictures, in the order they came.
  public var apiRequests: [OriginRecord] { origin.requests.filter { isAPI($0.path) } }
  /// The requests for pictures, in the order they came.
  public var imageRequests: [OriginRecord] { origin.requests.filter { !isAPI($0.path) } }

  private let isAPI: @Sendable (String) -> Bool
  private let faults: Faults

  /// Starts to serve.
  ///
  /// - Parameters:
  ///   - isAPI: Whether a path is the API's. All others are those of pictures.
  ///   - answer: Answers both.
  init(
    isAPI: @escaping @Sendable (String) -> Bool, answer: @escaping @Sendable (OriginRequest) -> OriginResponse
  ) throws {
    let faults = Faults()
    self.isAPI = isAPI
    self.faults = faults
    origin = try Origin { request in (isAPI(request.path) ? faults.next() : nil) ?? answer(request) }
  }

  /// Answers the next requests to the API with these, one after the other, before it works again.
  public func failNext(with responses: OriginResponse...) { faults.add(responses) }

  private final class Faults: Sendable {
    private let waiting = Mutex<[OriginResponse]>([])

    func add(_ responses: [OriginResponse]) { waiting.withLock { $0 += responses } }
    func next() -> OriginResponse? { waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
  }
}

/// One page of a list that is asked for by number and size.
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
