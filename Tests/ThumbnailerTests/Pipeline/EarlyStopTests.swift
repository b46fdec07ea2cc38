@testable import HTTPTransport
@testable import ImageCodec
@testable import JPEGCoefficients
@testable import ThumbnailCore
@testable import Thumbnailer

/// When the observer says that a body is enough. The picture has 160×120 pixels: 20×15 are there at 1/8, 40×30 at 1/4, 80×60 at 1/2.
@Suite struct EarlyStopTests {
  private let bytes: [UInt8]
  private let eighth: Int
  private let quarter: Int
  private let half: Int

  init() throws {
    bytes = [UInt8](try TestImages.bytes("formats/jpeg-progressive-444.jpg"))
    var watcher = ScanWatcher()
    bytes.withUnsafeBytes { watcher.feed($0) }
    eighth = try #require(watcher.sufficientLength(for: .eighth))
    quarter = try #require(watcher.sufficientLength(for: .quarter))
    half = try #require(watcher.sufficientLength(for: .half))
  }

  @Test func aBodyIsEnoughWhenTheScansOfTheSizesAskedAreThere() {
    #expect(stop(VariantDemand([variant(10, 7)])) == eighth)
    #expect(stop(VariantDemand([variant(11, 7)])) == quarter)
    #expect(stop(VariantDemand([variant(20, 15), variant(10, 7)])) == quarter)
    #expect(stop(VariantDemand([variant(21, 15)])) == half)
  }

  @Test func aPlanThatNeedsTheWholeFileIsNeverEnough() {
    #expect(stop(VariantDemand([variant(41, 30)])) == nil)
    #expect(stop(VariantDemand([variant(10, 7), variant(160, 120)])) == nil)
    #expect(stop(VariantDemand([variant(10, 7)]), memoryBudget: 1000) == nil)
    #expect(stop(VariantDemand()) == nil)
  }

  @Test func onlyProgressiveFilesAreStopped() throws {
    let demand = VariantDemand([variant(10, 10)])
    for name in ["jpeg-420.jpg", "jpeg-not-interleaved.jpg", "jpeg-arithmetic-progressive.jpg", "png-rgb.png"] {
      #expect(stop(demand, bytes: [UInt8](try TestImages.bytes("formats/\(name)"))) == nil)
    }
  }

  @Test func aDemandThatGrowsMeanwhileMovesTheEnd() {
    let demand = VariantDemand([variant(10, 7)])
    #expect(stop(demand) { if $0 == eighth - 10 { demand.insert(variant(20, 15)) } } == quarter)
    let further = VariantDemand([variant(20, 15)])
    #expect(stop(further) { if $0 == eighth + 10 { further.insert(variant(40, 30)) } } == half)
    let whole = VariantDemand([variant(20, 15)])
    #expect(stop(whole) { if $0 == eighth + 10 { whole.insert(variant(41, 30)) } } == nil)
  }

  @Test func aDemandThatShrinksEndsTheTransferWithTheNextPiece() {
    let demand = VariantDemand([variant(10, 7), variant(40, 30)])
    #expect(stop(demand) { if $0 == eighth + 10 { demand.remove(variant(40, 30)) } } == eighth + 10)
  }

  @Test func anotherAttemptBeginsAnew() {
    let observer = HeaderObserver(limits: DecodeLimits(), earlyStop: earlyStop(VariantDemand([variant(10, 7)])))
    for _ in 0..<2 {
      observer.bodyBegins(expectedLength: bytes.count)
      #expect(observer.finestScale == nil)
      let head = bytes[..<(eighth - 1)].withUnsafeBytes { observer.bodyReceived($0, at: 0) }
      #expect(head == .more)
      let next = bytes[(eighth - 1)..<eighth].withUnsafeBytes { observer.bodyReceived($0, at: eighth - 1) }
      #expect(next == .enough && observer.finestScale == .eighth)
    }
    guard case .success(let probe) = observer.header else {
      Issue.record("\(observer.header as Any)")
      return
    }
    #expect(probe.size == PixelSize(160, 120))
  }

  private func variant(_ width: Int, _ height: Int) -> Variant {
    Variant(size: PixelSize(width, height), fit: .fill)
  }

  private func earlyStop(_ demand: VariantDemand, memoryBudget: Int = 64 << 20) -> EarlyStop {
    EarlyStop(BodyNeed(demand: demand, memoryBudget: memoryBudget))
  }

  /// After how many bytes, given one by one, the observer says *enough*. `before` is called with their number first.
  private func stop(
    _ demand: VariantDemand, bytes: [UInt8]? = nil, memoryBudget: Int = 64 << 20,
    before: (Int) -> Void = { _ in }
  ) -> Int? {
    let observer = HeaderObserver(
      limits: DecodeLimits(), earlyStop: earlyStop(demand, memoryBudget: memoryBudget))
    let file = bytes ?? self.bytes
    observer.bodyBegins(expectedLength: file.count)
    return file.indices.first { index in
      before(index + 1)
      return file[index...index].withUnsafeBytes { observer.bodyReceived($0, at: index) } == .enough
    }.map { $0 + 1 }
  }
}
