@Suite struct PixelsVersionTests {
  @Test(arguments: ["0.9.0", "0.9", "0.9.7", "0.0.1", "0"]) func theFirstVersionsMakeTheFirstPixelsOrEarlier(
    text: String
  ) {
    let version = PixelsVersion(of: text, latest: "7.0.0")
    #expect(version.map { $0 <= .first } == true)
    #expect((version == .first) == text.hasPrefix("0.9"))
  }

  @Test func laterVersionsMakeTheCurrentPixels() {
    #expect(PixelsVersion(of: "7.0.0", latest: "7.0.0") == .current)
    #expect(PixelsVersion(of: "7.0.1", latest: "7.0.0") == nil)
  }

  @Test(arguments: ["", "1.", "1.0.0.0", "-1", "1.0.0-rc", "x", "99999.0.0"])
  func whatIsNoVersionIsRejected(text: String) {
    #expect(PixelsVersion(of: text, latest: "7.0.0") == nil)
  }
}
