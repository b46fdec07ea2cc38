import Testing

@testable import HTTPSemantics

/// Which responses forbid the use of their image.
@Suite struct OptOutTests {
  private let optOut = OptOut(["noai", "NoImageAI", "noindex"])

  private func directive(_ lines: String..., userAgent: String = "thumbs/1.0 libcurl/7.88") -> String? {
    optOut.directive(in: lines.map { HTTPHeader("x-robots-tag", $0) }, userAgent: userAgent)
  }

  @Test func aDirectiveForbidsInAnyCaseAndAnyLine() {
    #expect(directive("nofollow", "none, NOAI") == "noai")
    #expect(directive("noimageai") == "noimageai")
    #expect(directive("nofollow, max-image-preview: noai") == nil)
    #expect(directive() == nil && directive("") == nil && directive(",:,") == nil)
    #expect(OptOut().directive(in: [HTTPHeader("X-Robots-Tag", "noai")], userAgent: "") == nil)
  }

  @Test func aDirectiveForAnotherRobotDoesNotApply() {
    #expect(directive("googlebot: noai") == nil)
    #expect(directive("googlebot: noindex, noai") == nil)
    #expect(directive("googlebot: noindex, thumbs: noai") == "noai")
    #expect(directive("MyBot: noai", userAgent: "Mozilla/5.0 (compatible; mybot; thumbs)") == "noai")
    #expect(directive("bot: noai", userAgent: "mybot") == nil)
  }

  @Test func aDateIsNoRobot() {
    #expect(directive("unavailable_after: 25 Jun 2030 15:00:00 PST, noai") == "noai")
    #expect(directive("unavailable_after: Fri, 25 Jun 2030 15:00:00 GMT, noai") == "noai")
    #expect(directive("googlebot: unavailable_after: Fri, 25 Jun 2030 15:00:00 GMT, noai") == nil)
  }

  @Test func whatIsUnknownIsNoRobotAndAStarIsEverybody() {
    #expect(directive("license: cc-by, noai") == "noai")
    #expect(directive("*: noai") == "noai")
    #expect(OptOut(["notraining"]).directive(in: [HTTPHeader("X-Robots-Tag", "a: notraining")], userAgent: "b") == nil)
  }
}
