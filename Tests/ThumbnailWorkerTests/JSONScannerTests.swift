import TestSupport
import ThumbnailCore

@testable import ThumbnailWorker

/// The scanner of lines, against Foundation's parser where both have an opinion.
@Suite struct JSONScannerTests {
  private func value(_ text: String) -> String? {
    var scanner = JSONScanner(Array(text.utf8))
    guard let range = try? scanner.value(), (try? scanner.expectEnd()) != nil else { return nil }
    return String(decoding: scanner.bytes[range], as: UTF8.self)
  }

  @Test(arguments: [
    "0", "-0", "12345678901234567890", "1.50", "1e400", "-1.5E-3", "\"\"", "\"a\\u00e9\\n\\/\"", "[]", "[ 1 , [ ] ]",
    "{}",
    "{\"a\": {\"b\": null}, \"a\": [true, false]}", "null", "\"\u{7f}\u{1F600}\"",
  ])
  func aValueKeepsTheBytesItHas(text: String) { #expect(value(" \t\(text) \r") == text) }

  @Test(arguments: [
    "", "01", "+1", "1.", ".5", "1e", "-", "0x10", "NaN", "nul", "tru", "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12g4\"",
    "\"\\u12", "\"\n\"", "\"\0\"", "[", "[1", "[1,", "[1,]", "[,]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}",
    "{a:1}", "{\"a\" 1}", "1 2", "]", "}", "'a'",
  ])
  func whatIsNoJSONIsRefused(text: String) { #expect(value(text) == nil) }

  @Test func nestingHasALimit() {
    #expect(value(String(repeating: "[", count: 100) + String(repeating: "]", count: 100)) != nil)
    #expect(value(String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)) == nil)
    #expect(value(String(repeating: "{\"a\":", count: 100_000)) == nil)
  }

  @Test(arguments: [
    ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\u{8}\u{c}\n\r\t"), ("\"\\u00E9\\ud83d\\ude00!\"", "é😀!"),
    ("\"\\u0000\"", "\0"),
    ("\"https:\\/\\/e.org\"", "https://e.org"),
  ])
  func escapesAreUndone(text: String, expected: String) throws {
    var scanner = JSONScanner(Array(text.utf8))
    #expect(try scanner.string() == expected)
  }

  @Test(arguments: ["\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\u0041\"", "\"\\ud83dx\""])
  func halfASurrogatePairIsRefused(text: String) {
    var scanner = JSONScanner(Array(text.utf8))
    #expect(throws: InvalidValue.self) { try scanner.string() }
  }

  @Test func itAgreesWithFoundationOnFlippedBytes() throws {
    let text = Array(#"{"id":[1,-2.5e3,"a\u00e9\\"],"url":"https://e.org/a","n":null,"o":{"b":true}}"#.utf8)
    for index in text.indices {
      for byte in Array(#"{}[]":,\0a-."#.utf8) {
        var changed = text
        changed[index] = byte
        let isJSON = (try? JSONSerialization.jsonObject(with: Data(changed))) != nil
        let shown = String(decoding: changed, as: UTF8.self)
        #expect((value(shown) != nil) == isJSON, "\(shown)")
      }
    }
  }
}
