import Testing

@testable import Thumbnailer

@Suite struct ViewportInboxTests {
  private let inbox = ViewportInbox()

  @discardableResult
  private func post(_ offset: Double) -> Bool { inbox.post(Viewport(offset: offset, height: 400)) }

  @Test func onlyTheFirstNeedsSomebodyToBeTold() {
    #expect(post(1))
    #expect(!post(2))
    _ = inbox.takeAll()
    #expect(post(3))
  }

  @Test func viewportsAreTakenOnceInTheirOrder() {
    for offset in [3.0, 1, 2] { post(offset) }
    #expect(inbox.latest?.offset == 2)
    #expect(inbox.takeAll().map(\.offset) == [3, 1, 2])
    #expect(inbox.takeAll().isEmpty && inbox.latest == nil)
  }

  @Test func whatNobodyTakesDoesNotPileUp() {
    for offset in 0..<1000 { post(Double(offset)) }
    #expect(inbox.takeAll().map(\.offset) == (1000 - ViewportInbox.capacity..<1000).map(Double.init))
  }
}
