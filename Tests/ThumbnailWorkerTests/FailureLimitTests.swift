import Testing

@testable import ThumbnailWorker

/// How many lines may fail.
@Suite struct FailureLimitTests {
  @Test func aCountIsExceededByOneMore() {
    #expect(!FailureLimit.count(2).isExceeded(by: 2, of: 2, isAtEnd: true))
    #expect(FailureLimit.count(2).isExceeded(by: 3, of: 1000, isAtEnd: false))
    #expect(FailureLimit.count(0).isExceeded(by: 1, of: 1, isAtEnd: false))
  }

  @Test func aPartIsJudgedFromAHundredOnAndAtTheEnd() {
    #expect(!FailureLimit.percent(50).isExceeded(by: 99, of: 99, isAtEnd: false))
    #expect(FailureLimit.percent(50).isExceeded(by: 51, of: 100, isAtEnd: false))
    #expect(!FailureLimit.percent(50).isExceeded(by: 50, of: 100, isAtEnd: false))
    #expect(FailureLimit.percent(50).isExceeded(by: 2, of: 3, isAtEnd: true))
    #expect(!FailureLimit.percent(100).isExceeded(by: 3, of: 3, isAtEnd: true))
  }
}
