import Testing

@testable import HTTPSemantics

struct FieldTextTests {
  @Test(arguments: [
    ("Content-Length", "content-length", true), ("ETag", "ETAG", true), ("Age", "Ages", false), ("", "", true),
    // Pairs that differ by the bit that tells cases apart, but are no letters.
    ("a@", "a`", false), ("[", "{", false), ("K", "\u{212A}", false), ("É", "é", false),
  ])
  func namesCompareWithoutTheCaseOfASCIILetters(name: String, other: String, areSame: Bool) {
    #expect(name.isSameField(as: other) == areSame)
    #expect(other.isSameField(as: name) == areSame)
  }

  @Test(arguments: [
    (" \t max-age=1 \r\n", "max-age=1"), ("a b", "a b"), ("", ""), (" \u{B} ", ""), (" é ", "é"),
    ("é\u{301} ", "é\u{301}"),
    // Only spaces of ASCII are white space in a field.
    ("\u{A0}12", "\u{A0}12"),
  ])
  func spacesAtTheEndsAreTakenAway(text: String, trimmed: String) {
    #expect(Array(text.trimmingSpaces().utf8) == Array(trimmed.utf8))
  }
}
