import Testing

@testable import Thumbnailer

@Suite struct BodyProgressTests {
  @Test func thePartGrowsWithTheBytesAndIsWholeOnlyWhenAllIsHere() {
    let progress = BodyProgress()
    #expect(progress.fraction == 0)
    progress.begin(expectedLength: 1_000)
    progress.receive(upTo: 250)
    #expect(progress.fraction == 0.25)
    progress.receive(upTo: 1_000)
    #expect(progress.fraction < 1)
    progress.setComplete(true)
    #expect(progress.fraction == 1)
  }

  @Test func anotherAttemptBeginsAnew() {
    let progress = BodyProgress()
    progress.begin(expectedLength: 1_000)
    progress.receive(upTo: 900)
    progress.begin(expectedLength: 1_000)
    #expect(progress.fraction == 0)
  }

  @Test func ofABodyOfUnknownLengthNothingIsKnownBeforeItsEnd() {
    let progress = BodyProgress()
    progress.begin(expectedLength: nil)
    progress.receive(upTo: 900)
    #expect(progress.fraction == 0)
  }
}
