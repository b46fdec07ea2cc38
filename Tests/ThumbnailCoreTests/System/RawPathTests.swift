import Testing

@testable import ThumbnailCore

@Suite struct RawPathTests {
  @Test(arguments: [
    ("a%20b", "a b"), ("%41%62", "Ab"), ("100%", "100%"), ("a%4", "a%4"), ("%+1", "%+1"), ("%zz", "%zz"),
    ("%%41", "%A"), ("", ""),
  ])
  func onlyTwoHexadecimalDigitsStandForAByte(text: String, expected: String) {
    #expect(RawPath(percentEncoded: text).bytes == Array(expected.utf8))
  }
}
