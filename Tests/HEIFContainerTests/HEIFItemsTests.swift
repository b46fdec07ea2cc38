import Foundation
import Testing

@testable import HEIFContainer
@testable import ThumbnailCore

/// The table of contents, from containers that are built here.
@Suite struct HEIFItemsTests {
  private typealias Builder = ContainerBuilder

  @Test func itemsHaveTheirKindsPlacesAndReferences() throws {
    let items = try HEIFItems(meta: Builder.phone, at: 100)
    #expect(items.primary == 5)
    #expect(items.item(2)?.kind == "hvc1" && items.item(2)?.ranges == [2000..<2500])
    #expect(items.item(5)?.kind == "grid" && items.item(5)?.references["dimg"] == [1, 2, 3, 4])
    #expect(items.items("thmb", to: 5).map(\.id) == [6])
    #expect(items.item(6)?.extent == PixelSize(320, 224) && items.item(6)?.byteCount == 100)
    #expect(items.item(7) == nil)
    // The grid lies in the container itself, whose content begins at 100.
    let grid = try #require(items.item(5)?.ranges?.first)
    #expect(Array(Builder.phone[grid.lowerBound - 100..<grid.upperBound - 100]) == Builder.phoneGrid)
  }

  @Test func anItemInPiecesHasThemInTheirOrder() throws {
    let item = Builder.Item(id: 1, pieces: [50..<60, 10..<20], properties: [])
    let items = try HEIFItems(meta: Builder.meta([item], properties: []), at: 0)
    #expect(try items.item(1)?.ranges(inFileOf: 60) == [50..<60, 10..<20])
    #expect(throws: CodecError.truncated(detail: "an item reaches beyond the file")) {
      try items.item(1)?.ranges(inFileOf: 59)
    }
  }

  @Test(arguments: 0...2) func placesAreReadInEachVersionOfTheirTable(_ version: Int) throws {
    let items = [1, 2].map { Builder.Item(id: $0, pieces: [10 * $0..<10 * $0 + 5]) }
    let found = try HEIFItems(meta: Builder.meta(items, properties: [], locationVersion: version), at: 0)
    #expect(found.item(1)?.ranges == [10..<15] && found.item(2)?.ranges == [20..<25])
  }

  @Test func anItemLongerThanItsFileIsDamaged() throws {
    let item = Builder.Item(id: 1, pieces: [0..<60, 0..<60], properties: [])
    let items = try HEIFItems(meta: Builder.meta([item], properties: []), at: 0)
    #expect(throws: CodecError.damaged(.header, detail: "an item of 120 bytes")) {
      try items.item(1)?.ranges(inFileOf: 100)
    }
  }

  @Test func aPropertyThatCannotBeReadConcernsOnlyTheItemsThatHaveIt() throws {
    let items = try HEIFItems(
      meta: Builder.meta(
        [Builder.Item(id: 1, properties: [1, 2]), Builder.Item(id: 2, properties: [1, 2, -3])],
        properties: [Builder.hevc(), Builder.extent(64, 48), Builder.box("clap", [1, 2])]), at: 0)
    #expect(try items.image(1).size == PixelSize(64, 48))
    #expect(throws: CodecError.handedOver(reason: "an unknown property")) { try items.image(2) }
  }

  @Test func aPropertyThatIsMissingIsDamage() {
    let meta = Builder.meta([Builder.Item(id: 1, properties: [9])], properties: [])
    #expect(throws: CodecError.damaged(.header, detail: "a property that is missing")) {
      try HEIFItems(meta: meta, at: 0)
    }
  }

  @Test func positionsBeyondAnyFileAreDamage() {
    var meta: [UInt8] = [0, 0, 0, 0] + Builder.fullBox("pitm", Builder.number(1, 2))
    let huge = [UInt8](repeating: 0x7F, count: 8)
    meta += Builder.fullBox(
      "iloc", version: 1, [0x88, 0x80], Builder.number(1, 2), Builder.number(1, 2), Builder.number(0, 4), huge,
      Builder.number(1, 2), huge, huge)
    #expect(throws: CodecError.damaged(.header, detail: "an item beyond any file's length")) {
      try HEIFItems(meta: meta, at: 0)
    }
  }

  @Test func aBoxIsNoShorterThanItsHeader() {
    #expect(throws: CodecError.damaged(.header, detail: "a box of 7 bytes")) {
      try BoxHeader([0, 0, 0, 7, 0x66, 0x72, 0x65, 0x65])
    }
    #expect(throws: CodecError.truncated(detail: "in a table")) { try BoxHeader([0, 0, 0, 9, 0x66]) }
  }

  @Test func aBoxMayHaveALongLengthOrReachToTheEnd() throws {
    let long = try BoxHeader([0, 0, 0, 1] + Array("mdat".utf8) + [0, 0, 0, 1, 0, 0, 0, 0])
    #expect(long.kind == "mdat" && long.length == 1 << 32 && long.headerLength == 16)
    #expect(try BoxHeader([0, 0, 0, 0] + Array("mdat".utf8)).length == nil)
  }

  @Test func aContainerThatIsCutAnywhereIsRefusedOrShowsTheSameImage() {
    let whole = ContainerBuilder.phone
    for length in 0..<whole.count {
      let found = try? HEIFItems(meta: Array(whole[..<length]), at: 0).image(5, grid: Builder.phoneGrid)
      #expect(found == nil || found?.size == PixelSize(1000, 700), "\(length) bytes")
    }
  }

  @Test func everyLyingFieldIsRefusedOrLeadsToPlacesThatAreChecked() {
    let whole = ContainerBuilder.phone
    let length = 10_000
    for place in whole.indices {
      for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] where value != whole[place] {
        var lying = whole
        lying[place] = value
        guard let items = try? HEIFItems(meta: lying, at: 0) else { continue }
        for id in 1...6 as ClosedRange<UInt32> {
          for range in (try? items.item(id)?.ranges(inFileOf: length)) ?? [] { #expect(range.upperBound <= length) }
          guard let image = try? items.image(id, grid: Builder.phoneGrid) else { continue }
          #expect(image.tiles.count == image.rows * image.columns && (1...8).contains(image.orientation))
          #expect(image.part.x + image.part.size.width <= image.size.width)
          #expect(image.part.y + image.part.size.height <= image.size.height)
        }
      }
    }
  }
}
