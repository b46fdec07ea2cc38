import ArgumentParser
import Testing

@testable import thumbs

/// Durations on the command line.
@Suite struct DurationOptionTests {
  @Test(arguments: [
    ("30s", 30), ("10m", 600), ("12h", 43_200), ("7d", 604_800), ("2w", 1_209_600), ("1.5h", 5400), ("0d", 0), ("0", 0),
  ])
  func aNumberWithItsUnitIsRead(text: String, seconds: Int) throws {
    #expect(try Duration.option(text) == .seconds(seconds))
  }

  @Test(arguments: ["", "d", "30", "30 d", "-1d", "1y", "1e9s", "∞d", "1.2.3d", "99999999w", "١d"])
  func anythingElseIsRefusedWithAnExample(text: String) {
    #expect(throws: ValidationError.self) { try Duration.option(text) }
  }
}
