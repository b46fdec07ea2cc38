@testable import HTTPSemantics
@testable import HTTPTransport
@testable import ThumbnailCore

/// An observer that notes what it is told and answers as its closure says.
final class RecordingObserver: BodyObserver {
  struct Notes {
    var begins: [Int?] = []
    var bytes: [UInt8] = []
    var offsetsFit = true
  }

  private let notes = Mutex(Notes())
  private let verdict: @Sendable (_ seen: Int) -> BodyVerdict

  /// `verdict` is asked with the number of bytes seen in this attempt, the new ones included.
  init(_ verdict: @escaping @Sendable (_ seen: Int) -> BodyVerdict = { _ in .more }) {
    self.verdict = verdict
  }

  var begins: [Int?] { notes.withLock { $0.begins } }
  var bytes: [UInt8] { notes.withLock { $0.bytes } }
  var offsetsFit: Bool { notes.withLock { $0.offsetsFit } }

  func bodyBegins(expectedLength: Int?) {
    notes.withLock {
      $0.begins.append(expectedLength)
      $0.bytes = []
    }
  }

  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict {
    let seen = notes.withLock { notes in
      if offset != notes.bytes.count { notes.offsetsFit = false }
      notes.bytes += bytes
      return notes.bytes.count
    }
    return verdict(seen)
  }
}

extension Downloader {
  /// A download of a picture of up to 64 MiB, for somebody who looks at it.
  func fetch(
    _ url: URL, headers: [HTTPHeader] = [], limit: Int = 64 << 20, observer: (any BodyObserver)? = nil,
    priority: Priority = .visible
  ) async throws(DownloadError) -> Download {
    try await download(
      DownloadRequest(url: url, headers: headers, byteLimit: limit), observer: observer,
      priority: PriorityControl(priority))
  }

  /// The error of a download that is expected to fail.
  func failure(
    of url: URL, headers: [HTTPHeader] = [], limit: Int = 64 << 20, observer: (any BodyObserver)? = nil
  ) async -> DownloadError? {
    do {
      _ = try await fetch(url, headers: headers, limit: limit, observer: observer)
      return nil
    } catch {
      return error
    }
  }
}

extension Download {
  var bytes: [UInt8] { get throws { try body.read(at: 0, length: body.count) } }
}

/// Bytes that no shift or repetition leaves equal.
func noise(_ count: Int) -> [UInt8] {
  var state: UInt64 = 0x9e37_79b9_7f4a_7c15
  return (0..<count).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 33)
  }
}

extension Transfer {
  /// A request for a picture of up to 64 MiB.
  static func example(
    limit: Int = 64 << 20, observer: (any BodyObserver)? = nil, conditions: [HTTPHeader] = []
  ) throws -> Transfer {
    let url = try #require(URL(string: "http://picture.example/a.jpg"))
    let address = try #require(CurlURL(url.absoluteString)).digest
    var request = DownloadRequest(url: url, byteLimit: limit)
    request.condition = .init(address: address, headers: conditions)
    var transfer = try Transfer(request, .quick())
    transfer.observer = observer
    return transfer
  }
}

extension DownloadError {
  /// The name of the case.
  var kind: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
