@testable import thumbs

/// Advice of the library in the command's terms.
@Suite struct AdviceTests {
  @Test func namesTheOptionInsteadOfTheMember() {
    #expect(
      Advice.withOptions("too large; raise the limit (maximumPixels)") == "too large; raise the limit (--max-pixels)")
    #expect(
      Advice.withOptions("raise the budget (memoryBudget) or the helper's limit (isolation.memoryLimit)")
        == "raise the budget (--memory-budget) or the helper's limit (--memory-budget)")
  }

  @Test func namesNothingWhereNoOptionIs() {
    #expect(Advice.withOptions("it needs more time (isolation.deadline)") == "it needs more time")
  }

  @Test(arguments: ["", "no such file", "status 404 (not found)", "the proxy wants a login"])
  func leavesOtherMessagesAsTheyAre(message: String) {
    #expect(Advice.withOptions(message) == message)
  }

  @Test func everyErrorSpeaksToOneAudience() {
    for error in [
      ThumbnailError.notCached, .rateLimited(retryAfter: nil), .unsupportedFormat(reason: "allow it (isolation)"),
    ] {
      #expect(!error.message.contains("--") && error.message.contains("("))
      #expect(error.shownMessage.contains("(--"))
    }
  }
}
