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
    let response: ThumbnailResponse
    /// The name of its file, if it has one.
    var path: String?
    let sha256: String
    let cacheKey: String

    var thumbnail: Thumbnail { response.thumbnail }
  }

  /// What came of the line.
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

  /// The line on stdout, without a line feed.
  func json(_ wording: WorkerWording) -> [UInt8] {
    var text = JSONText()
    text.add("line", number)
    if let id { text.add("id", raw: id) }
    switch outcome {
    case .ok: text.add("status", "ok")
    case .failed: text.add("status", "failed")
    case .skipped: text.add("status", "skipped")
    }
    if let key { text.add("key", key) }
    switch address {
    case .url(let url): text.add("url", wording.address(url))
    case .path(let path): text.add("path", path)
    case nil: break
    }
    switch outcome {
    case .ok(let made):
      addSource(made, to: &text)
      text.add("thumbnails", made.map(json))
      if let shard { text.add("shard", shard) }
      if made.contains(where: \.thumbnail.isDamaged) { text.add("damaged", true) }
    case .failed(let failure), .skipped(let failure):
      text.add("thumbnails", [JSONText]())
      text.add("error", failure.json(wording))
    }
    addWork(to: &text)
    return text.closed
  }

  private func addSource(_ made: [Made], to text: inout JSONText) {
    guard let source = made.first?.thumbnail.source else { return }
    var json = JSONText()
    json.add("width", source.size.width)
    json.add("height", source.size.height)
    json.add("format", source.format.rawValue)
    json.add("bytes", source.byteCount)
    json.add("downloaded", made.map(\.response.downloadedBytes).max() ?? 0)
    json.add("left", made.map(\.response.bytesLeft).max() ?? 0)
    text.add("source", json)
  }

  private func json(_ made: Made) -> JSONText {
    let thumbnail = made.thumbnail
    var json = JSONText()
    json.add("size", TargetSize(made.variant.size).description)
    if let path = made.path { json.add("path", path) }
    json.add("width", thumbnail.size.width)
    json.add("height", thumbnail.size.height)
    json.add("format", thumbnail.format.rawValue)
    json.add("bytes", thumbnail.data.count)
    json.add("sha256", made.sha256)
    json.add("cacheKey", made.cacheKey)
    json.add("origin", made.response.origin.rawValue)
    json.add("stored", made.response.isStored)
    if let placeholder = thumbnail.placeholder {
      json.add("thumbHash", placeholder.thumbHash.base64EncodedString())
      json.add("colour", "#\(placeholder.colour.hex)")
    }
    if isInline { json.add("data", thumbnail.data.base64EncodedString()) }
    return json
  }

  private func addWork(to text: inout JSONText) {
    if work.attempts > 0 {
      var http = JSONText()
      if let status = work.status { http.add("status", status) }
      http.add("attempts", work.attempts)
      text.add("http", http)
    }
    if case .ok(let made) = outcome, let plan = made.lazy.compactMap(\.response.plan).first { text.add("plan", plan) }
    text.add("ms", duration, in: .milliseconds(1))
    var stages = JSONText()
    if let time = work.cache { stages.add("cache", time, in: .milliseconds(1)) }
    if let time = work.download { stages.add("download", time, in: .milliseconds(1)) }
    if let time = work.revalidation { stages.add("revalidate", time, in: .milliseconds(1)) }
    if let time = work.decode { stages.add("decode", time, in: .milliseconds(1)) }
    if let time = work.write { stages.add("write", time, in: .milliseconds(1)) }
    text.add("stages", stages)
  }
}

extension LineFailure {
  /// The object for a response or a shard.
  func json(_ wording: WorkerWording) -> JSONText {
    var json = JSONText()
    json.add("stage", stage.rawValue)
    json.add("code", code)
    json.add("message", wording.message(message))
    json.add("retry", mayRetry)
    if let retryAfter { json.add("retryAfter", retryAfter, in: .seconds(1)) }
    return json
  }
}

/// How messages and addresses are shown: a program may name its options in them, or hide passwords.
public struct WorkerWording: Sendable {
  let message: @Sendable (String) -> String
  let address: @Sendable (String) -> String

  /// Shows everything as it is, unless told otherwise.
  public init(
    message: @escaping @Sendable (String) -> String = { $0 }, address: @escaping @Sendable (String) -> String = { $0 }
  ) {
    (self.message, self.address) = (message, address)
  }
}
