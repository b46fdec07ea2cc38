/// The progress of a request. Requests that share a download share their progress.
public struct RequestProgress: Sendable, Equatable {
  /// The stages of a request. A request may return to an earlier stage, for example if a failed download is retried.
  public enum Stage: Int, Sendable, CaseIterable {
    /// The caches are read.
    case lookingUp
    /// The image is requested, but no byte of it has arrived. The request waits for a slot or for the server.
    case waiting
    /// The image is being downloaded.
    case downloading
    /// All needed bytes have arrived. The thumbnail is made, or waits for memory.
    case decoding
  }

  /// The current stage.
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
