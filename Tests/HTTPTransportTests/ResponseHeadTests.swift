@testable import HTTPTransport

/// Heads of responses, line by line.
@Suite struct ResponseHeadTests {
  /// A head of these lines, without the empty one at its end.
  private func head(_ lines: String...) -> ResponseHead {
    var head = ResponseHead()
    for line in lines {
      let isComplete = Array("\(line)\r\n".utf8).withUnsafeBytes { head.take($0) }
      #expect(!isComplete, "\(line)")
    }
    return head
  }

  @Test(arguments: [" no-store", "\tno-store", "    \t no-store  "]) func aFoldedLineContinuesItsField(line: String) {
    let head = head("HTTP/1.1 200 OK", "Cache-Control: max-age=60,", line, "ETag: \"a\"")
    #expect(head.headers.map(\.name) == ["Cache-Control", "ETag"])
    #expect(head.headers.firstValue(of: "Cache-Control") == "max-age=60, no-store")
    #expect(ResponseMetadata(head.headers).control.forbidsStoring)
  }

  @Test func aFoldedLineWithAColonIsNoField() {
    let head = head("HTTP/1.1 200 OK", "X-Note: see", " Location: http://example.org", "\tETag: \"a\"")
    #expect(head.headers.map(\.name) == ["X-Note"])
    #expect(head.headers.first?.value == "see Location: http://example.org ETag: \"a\"")
  }

  @Test func aBlankLineWithinTheHeadDoesNotEndIt() {
    let head = head("HTTP/1.1 200 OK", "Cache-Control: max-age=60,", "  ", " no-store")
    #expect(head.headers.first?.value == "max-age=60, no-store")
  }

  @Test func whatContinuesNoFieldMeansNothing() {
    #expect(head("HTTP/1.1 200 OK", " ETag: \"a\"").headers.isEmpty)
    let odd = head("HTTP/1.1 200 OK", "ETag: \"a\"", "no field", " Location: /b")
    #expect(odd.headers.map(\.value) == ["\"a\""])
    let later = head("HTTP/1.1 103 Early Hints", "Link: </a.css>", "HTTP/1.1 200 OK", " ETag: \"a\"")
    #expect(later.headers.isEmpty && later.status == 200)
  }

  @Test func aFoldedStatusLineIsNone() {
    #expect(head("HTTP/1.1 404 Not Found", "X-Note: a", " HTTP/1.1 200 OK").status == 404)
  }

  @Test func passesOverInterimAnswers() {
    var parsed = ResponseHead()
    let events = ["HTTP/1.1 103 Early Hints\r\n", "Link: x\r\n", "\r\n", "HTTP/2 200\r\n", "A: b: c \r\n", "\r\n"].map {
      line in
      Array(line.utf8).withUnsafeBytes { parsed.take($0) }
    }
    #expect(events == [false, false, false, false, false, true])
    #expect(parsed.status == 200)
    #expect(parsed.headers == [HTTPHeader("A", "b: c")])
  }

  @Test func tellsTheLengthOnlyWhereItHolds() {
    #expect(head("HTTP/1.1 200 OK", "Content-Length: 12").contentLength == 12)
    #expect(head("HTTP/1.1 200 OK", "content-length: -1").contentLength == nil)
    #expect(head("HTTP/1.1 200 OK", "Content-Length: many").contentLength == nil)
    #expect(head("HTTP/1.1 200 OK", "Content-Length: 12", "Transfer-Encoding: chunked").contentLength == nil)
    #expect(head("HTTP/1.1 200 OK", "Location: /a").redirectLocation == nil)
  }
}
