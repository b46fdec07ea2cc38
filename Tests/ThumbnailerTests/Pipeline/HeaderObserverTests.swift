@testable import HTTPTransport
@testable import ImageCodec
@testable import ThumbnailCore
@testable import Thumbnailer

/// What ends a transfer before its body does.
struct HeaderObserverTests {
  /// The beginning of a JPEG that claims to be of that size.
  private func claim(_ width: Int, _ height: Int) -> [UInt8] {
    let sides = [height >> 8, height & 255, width >> 8, width & 255].map { UInt8($0) }
    let start: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC2, 0, 17, 8]
    let components: [UInt8] = [3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0]
    // The beginning of a table, so that there is enough to tell the format from.
    let table: [UInt8] = [0xFF, 0xC4, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0]
    return start + sides + components + table
  }

  @Test func theObserverRefusesAndKeepsTheReason() {
    let observer = HeaderObserver(limits: DecodeLimits())
    observer.bodyBegins(expectedLength: nil)
    let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 3]
    let file = claim(60000, 60000) + scan
    let verdicts = file.enumerated().map { index, byte in
      withUnsafeBytes(of: byte) { observer.bodyReceived($0, at: index) }
    }
    #expect(verdicts.prefix(31).allSatisfy { $0 == .more })
    #expect(verdicts.last == .refuse)
    guard case .failure(.limitExceeded) = observer.header else {
      Issue.record("\(observer.header as Any)")
      return
    }
    observer.bodyBegins(expectedLength: nil)
    #expect(observer.header == nil)
  }

  @Test func anHTMLPageIsRefusedWithItsFirstBytes() {
    let observer = HeaderObserver(limits: DecodeLimits())
    let page = Array(("<html>" + String(repeating: "x", count: 2000)).utf8)
    #expect(page.withUnsafeBytes { observer.bodyReceived($0, at: 0) } == .refuse)
    #expect(observer.header == .failure(.notAPicture(looksLike: "an HTML page")))
  }

  @Test func aFileThatIsTooLongIsRefusedAtItsAnnouncement() {
    var limits = DecodeLimits()
    limits.maximumBytes = 1000
    let observer = HeaderObserver(limits: limits)
    observer.bodyBegins(expectedLength: 1001)
    #expect(withUnsafeBytes(of: UInt8(0xFF)) { observer.bodyReceived($0, at: 0) } == .refuse)
    #expect(observer.header == .failure(.limitExceeded(.bytes, value: 1001, maximum: 1000)))
  }
}
