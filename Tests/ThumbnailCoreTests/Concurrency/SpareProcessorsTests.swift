@testable import ThumbnailCore

@Suite struct SpareProcessorsTests {
  @Test func noMoreAreTakenThanThereAre() {
    let spare = SpareProcessors(2)
    #expect(spare.take() && spare.take())
    #expect(!spare.take())
    spare.giveBack()
    #expect(spare.take())
  }

  @Test func decodesCountAndWaitForNone() {
    let spare = SpareProcessors(1)
    spare.counting {
      #expect(!spare.take())
      spare.counting { #expect(!spare.take()) }
      #expect(!spare.take())
    }
    #expect(spare.take())
    #expect(spare.counting { 5 } == 5)
  }

  @Test func threadsThatTakeAndGiveBackLeaveAllOfThem() async {
    let spare = SpareProcessors(3)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<1000 where spare.take() { spare.giveBack() } }
      }
    }
    #expect(spare.take() && spare.take() && spare.take() && !spare.take())
  }
}
