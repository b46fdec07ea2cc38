/// Objects on a line.
@Suite struct JSONObjectTests {
  @Test func membersStandInTheOrderOfTheirAddition() {
    let object: JSONObject = [
      "b": 1, "a": true, "none": nil as Int?, "list": [JSONObject(), JSONObject()], "raw": JSONText("[1]".utf8),
      "object": JSONObject(),
    ]
    #expect(object.line == #"{"b":1,"a":true,"list":[{},{}],"raw":[1],"object":{}}"#)
    #expect(JSONObject().line == "{}")
  }

  @Test func textsAndNamesComeBackAsTheyWere() throws {
    let text = String(String.UnicodeScalarView((0..<0x80).compactMap { UnicodeScalar($0) })) + "é😀\u{2028}"
    var object = JSONObject()
    object.add(text, text)
    #expect(try JSONDecoder().decode([String: String].self, from: Data(object.line.utf8)) == [text: text])
  }

  @Test(arguments: [(0, "0.0"), (1, "0.001"), (1200, "1.2"), (1_230_000, "1230.0"), (12_340, "12.34")])
  func timesHaveThreeDigitsAtMost(microseconds: Int, expected: String) {
    let object: JSONObject = ["a": (Duration.microseconds(microseconds).seconds * 1000).rounded(toPlaces: 3)]
    #expect(object.line == "{\"a\":\(expected)}")
  }
}
