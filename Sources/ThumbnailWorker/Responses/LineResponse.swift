import Foundation
import ThumbnailCore
import Thumbnailer

/// The response to one line.
struct LineResponse: Sendable {
  /// The source as the line has it.
  enum Address: Sendable, Equatable {
    case url(String)
    case path(String)
  }

  /// A thumbnail of the line.
  struct Made: Sendable {
    let variant: Variant
    var response: ThumbnailResponse
    /// The name of its file, if it has one.
    var path: String?
    let sha256: String
    let cacheKey: String

    var thumbnail: Thumbnail { response.thumbnail }
  }

  /// The result of the line.
  enum Outcome: Sendable {
    case ok([Made])
    case failed(LineFailure)
    case skipped(LineFailure)
  }

  let number: Int
  var id: [UInt8]?
  var key: String?
  var address: Address?
  var outcome: Outcome
  /// Whether thumbnails are in the response itself.
  var isInline = false
  /// The whole file of its URL, if it is in the response.
  var original: Data?
  /// The memory of that file.
  var originalShare: WeightedSemaphore.Reservation?
  /// The shard that the thumbnails are in.
  var shard: String?
  var work = WorkRecord()
  /// From the line to its result.
  var duration = Duration.zero

  /// The response to a line that was read.
  init(to line: ParsedLine, _ outcome: Outcome) {
    (number, id, key, address) = (line.number, line.id, line.key, line.address)
    self.outcome = outcome
  }

  /// Whether it is not yet certain that the cache has a thumbnail.
  var isPending: Bool {
    guard case .ok(let made) = outcome else { return false }
    return made.contains(where: \.response.isPending)
  }

  /// The same once that is certain.
  func committed() async -> LineResponse {
    guard case .ok(var made) = outcome else { return self }
    for index in made.indices { made[index].response = await made[index].response.committed() }
    var response = self
    response.outcome = .ok(made)
    return response
  }

  /// The line on stdout, without a line feed.
  func json(_ wording: WorkerWording) -> [UInt8] {
    let (status, made, failure): (String, [Made], LineFailure?) =
      switch outcome {
      case .ok(let made): ("ok", made, nil)
      case .failed(let error): ("failed", [], error)
      case .skipped(let error): ("skipped", [], error)
      }
    let url: String? = if case .url(let text) = address { wording.address(text) } else { nil }
    let path: String? = if case .path(let text) = address { text } else { nil }
    let object: JSONObject = [
      "line": number, "id": id.map { JSONText($0) }, "status": status, "key": key, "url": url, "path": path,
      "source": source(of: made),
      "original": original?.base64EncodedString(),
      "thumbnails": made.map(json),
      "shard": made.isEmpty ? nil : shard,
      "damaged": made.contains(where: \.thumbnail.isDamaged) ? true : nil,
      "error": failure?.json(wording),
      "http": work.attempts > 0 ? ["status": work.status, "attempts": work.attempts] as JSONObject : nil,
      "plan": made.lazy.compactMap(\.response.plan).first,
      "preview": made.lazy.compactMap(\.response.preview).first?.rawValue,
      "ms": Self.milliseconds(duration),
      "stages": [
        "cache": work.cache.map(Self.milliseconds), "download": work.download.map(Self.milliseconds),
        "revalidate": work.revalidation.map(Self.milliseconds), "decode": work.decode.map(Self.milliseconds),
        "write": work.write.map(Self.milliseconds),
      ] as JSONObject,
    ]
    return object.bytes
  }

  private func source(of made: [Made]) -> JSONObject? {
    guard let source = made.first?.thumbnail.source else { return nil }
    return [
      "width": source.size.width, "height": source.size.height, "format": source.format.rawValue,
      "bytes": source.byteCount, "downloaded": made.map(\.response.downloadedBytes).max(),
      "left": made.map(\.response.bytesLeft).max(),
    ]
  }

  private func json(_ made: Made) -> JSONObject {
    let thumbnail = made.thumbnail
    return [
      "size": TargetSize(made.variant.size).description, "path": made.path, "width": thumbnail.size.width,
      "height": thumbnail.size.height, "format": thumbnail.format.rawValue, "bytes": thumbnail.data.count,
      "sha256": made.sha256, "cacheKey": made.cacheKey, "origin": made.response.origin.rawValue,
      "stored": made.response.isStored,
      "thumbHash": thumbnail.placeholder?.thumbHash.base64EncodedString(),
      "colour": thumbnail.placeholder.map { "#\($0.colour.hex)" },
      "data": isInline ? thumbnail.data.base64EncodedString() : nil,
    ]
  }

  private static func milliseconds(_ time: Duration) -> Double { (time.seconds * 1000).rounded(toPlaces: 3) }
}

extension LineFailure {
  /// The object for a response or a shard.
  func json(_ wording: WorkerWording) -> JSONObject {
    [
      "stage": stage.rawValue,
      "code": code,
      "message": wording.message(message),
      "retry": mayRetry,
      "retryAfter": retryAfter.map { $0.seconds.rounded(toPlaces: 3) },
    ]
  }
}

/// The form of messages and addresses: a program may name its options in them, or hide passwords.
package struct WorkerWording: Sendable {
  let message: @Sendable (String) -> String
  let address: @Sendable (String) -> String

  /// By default everything is shown unchanged.
  package init(
    message: @escaping @Sendable (String) -> String = { $0 }, address: @escaping @Sendable (String) -> String = { $0 }
  ) {
    (self.message, self.address) = (message, address)
  }
}
