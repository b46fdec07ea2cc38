import Foundation
import Testing

@testable import ThumbnailWorker

/// Objects on a line.
@Suite struct JSONTextTests {
  private func line(_ build: (inout JSONText) -> Void) -> String {
    var text = JSONText()
    build(&text)
    return String(decoding: text.closed, as: UTF8.self)
  }

  @Test func membersStandInTheOrderOfTheirAddition() {
    let text = line {
      $0.add("b", 1)
      $0.add("a", true)
      $0.add("list", [JSONText(), JSONText()])
      $0.add("raw", raw: "[1]".utf8)
      $0.add("object", JSONText())
    }
    #expect(text == #"{"b":1,"a":true,"list":[{},{}],"raw":[1],"object":{}}"#)
    #expect(line { _ in } == "{}")
  }

  @Test func textsComeBackAsTheyWere() throws {
    let text = String(String.UnicodeScalarView((0..<0x80).compactMap { UnicodeScalar($0) })) + "é😀\u{2028}"
    let object = try JSONDecoder().decode([String: String].self, from: Data(line { $0.add("a", text) }.utf8))
    #expect(object == ["a": text])
  }

  @Test(arguments: [(0, "0.0"), (1, "0.001"), (1200, "1.2"), (1_230_000, "1230.0"), (12_340, "12.34")])
  func timesHaveThreeDigitsAtMost(microseconds: Int, expected: String) {
    #expect(line { $0.add("a", .microseconds(microseconds), in: .milliseconds(1)) } == "{\"a\":\(expected)}")
  }
}
