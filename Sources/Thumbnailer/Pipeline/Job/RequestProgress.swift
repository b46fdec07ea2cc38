/// How far the work for a request has come. Requests that share a download share their progress.
public struct RequestProgress: Sendable, Equatable {
  /// What is being done. A request may return to an earlier stage, such as when a server fails and is asked again.
  public enum Stage: Int, Sendable, CaseIterable {
    /// The caches are read.
    case lookingUp
    /// The image is requested, and no byte of it has arrived: the request waits for its turn, or for the server.
    case waiting
    /// The image is arriving.
    case downloading
    /// All bytes that are needed are here; the thumbnail is made, or waits for memory.
    case decoding
  }

  /// What is being done.
  public var stage: Stage
  /// The bytes of the image that have arrived in this transfer.
  public var receivedBytes: Int
  /// The length of the image; nil while it is unknown. Fewer bytes may suffice, such as the first scans of a progressive
  /// JPEG.
  public var expectedBytes: Int?

  /// The part of the image that has arrived, from 0 to 1; nil while its length is unknown.
  public var fraction: Double? {
    expectedBytes.map { $0 > 0 ? min(1, Double(receivedBytes) / Double($0)) : 1 }
  }
}
