import Testing
@testable import Thumbnailer

@Test func tokensReadBack() {
  let v = Variant(size: PixelSize(400, 300), background: .white)
  #expect(Variant(token: v.token) == v)
}
