@testable import ThumbnailCore
@testable import Thumbnailer

/// The HTTP status of each error, and the table of it in Sources/Thumbnailer/Thumbnailer.docc/Extending.md.
@Suite(.timeLimit(.minutes(5))) struct HTTPStatusTests {
  /// Every case of `ThumbnailError`, with what a server would make of it.
  static let errors: [(error: ThumbnailError, status: Int, isTransient: Bool)] = [
    (.invalidRequest(reason: ""), 400, false),
    (.unsupportedSource(reason: ""), 400, false),
    (.refused(status: 403, reason: ""), 403, false),
    (.addressRefused(reason: ""), 403, false),
    (.optedOut(reason: ""), 403, false),
    (.notFound(reason: ""), 404, false),
    (.tooLarge(reason: ""), 413, false),
    (.notAPicture(reason: ""), 415, false),
    (.unsupportedFormat(reason: ""), 415, false),
    (.damaged(reason: ""), 422, false),
    (.decoderFailed(reason: ""), 422, false),
    (.cancelled, 499, true),
    (.cannotEncode(reason: ""), 500, false),
    (.processingFailed(reason: ""), 500, false),
    (.refused(status: 405, reason: ""), 502, false),
    (.serverFailed(status: 500), 502, true),
    (.unreachable(reason: ""), 502, true),
    (.rateLimited(retryAfter: .seconds(7)), 503, true),
    (.hostClosed(reason: "", retryAfter: .seconds(7)), 503, true),
    (.storageUnavailable(reason: ""), 503, true),
    (.memoryUnavailable(reason: ""), 503, true),
    (.timedOut(reason: ""), 504, true),
    (.notCached, 504, false),
  ]

  @Test func everyErrorHasItsStatusAndThePageSaysIt() throws {
    let page = try documentation("Sources/Thumbnailer/Thumbnailer.docc/Extending.md")
    for (error, status, isTransient) in Self.errors {
      #expect(error.httpStatus == status, "\(error)")
      #expect(error.isTransient == isTransient, "\(error)")
      let row = page.split(separator: "\n").first { $0.hasPrefix("| \(status) |") }
      #expect(row?.contains("`\(error.code)`") == true, "\(error)")
    }
    #expect(Set(Self.errors.map(\.error.code)).count == 22)
  }

  @Test func onlyARefusalOfCredentialsIsPassedOnAsOne() {
    for status in [401, 403, 451, nil] { #expect(ThumbnailError.refused(status: status, reason: "").httpStatus == 403) }
    for status in [304, 400, 407, 418] { #expect(ThumbnailError.refused(status: status, reason: "").httpStatus == 502) }
  }

  @Test func thePauseThatAServerAsksForIsKept() {
    for (error, _, _) in Self.errors {
      let isPause = ["rate-limited", "host-closed"].contains(error.code)
      #expect(error.retryAfter == (isPause ? .seconds(7) : nil), "\(error)")
      if error.retryAfter != nil { #expect(error.httpStatus == 503 && error.isTransient) }
    }
    #expect(ThumbnailError.rateLimited(retryAfter: nil).retryAfter == nil)
  }

  @Test func aClosedHostSaysWhenItIsTriedNext() {
    let error = ThumbnailError(.hostClosed(host: "example.org", reason: "status 500", retryAfter: .seconds(3)))
    #expect(error.retryAfter == .seconds(3) && error.code == "host-closed")
  }
}

/// A page of the documentation.
func documentation(_ path: String) throws -> String {
  let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
}
