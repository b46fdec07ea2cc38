import Testing

@testable import PhotoSources

@Suite struct NaturalOrderTests {
  @Test func numbersInNamesCountAsNumbers() {
    let sorted = ["a", "a1", "a01", "a2", "a2b", "a10", "a10/x", "a10-x", "b/1", "b/9", "b/10", "é", "富"]
    var names = sorted.shuffled()
    names.sort { NaturalOrder.areInOrder($0.utf8, $1.utf8) }
    // Of a1 and a01 the zero decides, byte by byte.
    #expect(names == ["a", "a01", "a1", "a2", "a2b", "a10", "a10/x", "a10-x", "b/1", "b/9", "b/10", "é", "富"])
  }

  @Test func itIsATotalOrder() {
    var generator = SystemRandomNumberGenerator()
    let alphabet = Array("019a/B".utf8)
    let names = (0..<60).map { _ in
      (0..<Int.random(in: 0...4, using: &generator)).map { _ in alphabet.randomElement() ?? 0 }
    }
    for a in names {
      #expect(!NaturalOrder.areInOrder(a, a))
      for b in names where a != b {
        #expect(NaturalOrder.areInOrder(a, b) != NaturalOrder.areInOrder(b, a), "\(a) \(b)")
        for c in names where NaturalOrder.areInOrder(a, b) && NaturalOrder.areInOrder(b, c) {
          #expect(NaturalOrder.areInOrder(a, c), "\(a) \(b) \(c)")
        }
      }
    }
  }
}
