import Foundation

/// How much of a large matrix, or of many rounds of random input, a test goes through: all with `THUMBNAILER_ALL_CASES`,
/// as `.ci/release` sets it and whoever has changed what the test is about should. The gate takes a part, in which each
/// boundary and each case that has failed once is.
package enum Thoroughness {
  /// Whether tests go through all.
  package static let isFull = ProcessInfo.processInfo.environment["THUMBNAILER_ALL_CASES"] != nil

  /// The numbers of rounds of random input: the first fifth of them in the gate.
  package static func rounds(_ all: Int) -> Range<Int> { 0..<(isFull ? all : (all + 4) / 5) }

  /// The cases of a matrix: in the gate these alone.
  package static func cases<Case>(_ inGate: [Case], of all: [Case]) -> [Case] { isFull ? all : inGate }
}

extension Trait where Self == ConditionTrait {
  /// For what compiles C, asks programs of other projects, waits for real time limits, or has thousands of files.
  package static var beforeARelease: Self {
    .enabled(if: Thoroughness.isFull, "before a release, or with THUMBNAILER_ALL_CASES=1")
  }

  /// For what needs real pictures. The gate leaves them out, so that it is the same everywhere.
  package static var withTheCorpus: Self {
    .enabled(if: Thoroughness.isFull && SharedCorpus.isPresent, "the shared corpus is absent, or THUMBNAILER_ALL_CASES")
  }
}
