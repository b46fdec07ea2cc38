import Foundation
import Testing

@testable import HEIFContainer
@testable import ThumbnailCore

/// Images as they are described by their items' properties.
@Suite struct HEIFImageTests {
  private typealias Builder = ContainerBuilder

  /// The image of one item with these properties after its coding and a size of 64 by 48.
  private func image(_ properties: [[UInt8]], isEssential: Bool = false) throws -> HEIFImage {
    let numbers = [1, 2] + properties.indices.map { isEssential ? -($0 + 3) : $0 + 3 }
    return try HEIFItems(
      meta: Builder.meta(
        [Builder.Item(id: 1, properties: numbers)],
        properties: [Builder.hevc(), Builder.extent(64, 48)] + properties), at: 0
    ).image(1)
  }

  @Test func aGridHasItsTilesRowByRow() throws {
    let image = try HEIFItems(meta: Builder.phone, at: 0).image(5, grid: Builder.phoneGrid)
    #expect(image.size == PixelSize(1000, 700) && image.tileSize == PixelSize(512, 512))
    #expect(image.tiles == [1, 2, 3, 4] && image.columns == 2 && image.rows == 2)
    #expect(image.coding == .hevc && image.chroma == .s420 && image.bits == 8)
    #expect(image.orientation == 6)
    #expect(image.colour == CodedColour(primaries: 12, transfer: 13, matrix: 6, isFullRange: true))
  }

  @Test func aGridIsUnreadableWithoutItsContentAndDamagedWithoutItsTiles() throws {
    let items = try HEIFItems(meta: Builder.phone, at: 0)
    #expect(throws: CodecError.handedOver(reason: "a grid of unknown content")) { try items.image(5) }
    let taller: [UInt8] = [0, 0, 2, 1] + Builder.number(1000, 2) + Builder.number(1400, 2)
    #expect(throws: CodecError.damaged(.header, detail: "a grid without all its tiles")) {
      try items.image(5, grid: taller)
    }
    let wider: [UInt8] = [0, 0, 1, 1] + Builder.number(1025, 2) + Builder.number(700, 2)
    #expect(throws: CodecError.handedOver(reason: "a grid of different tiles")) { try items.image(5, grid: wider) }
  }

  /// What exchanging, and then turning, comes to as an EXIF orientation.
  @Test(
    arguments: [
      ([], 1), ([("irot", 1)], 8), ([("irot", 2)], 3), ([("irot", 3)], 6), ([("imir", 1)], 2), ([("imir", 0)], 4),
      ([("irot", 3), ("imir", 1)], 5), ([("irot", 1), ("imir", 1)], 7), ([("imir", 1), ("irot", 1)], 5),
      ([("irot", 2), ("imir", 0)], 2),
    ] as [([(String, UInt8)], Int)])
  func rotationsAndMirroringsApplyInTheirOrder(_ steps: [(String, UInt8)], _ orientation: Int) throws {
    #expect(try image(steps.map { Builder.box($0.0, [$0.1]) }).orientation == orientation)
  }

  @Test func theBrightestLightIsKnownWhereTheContainerTells() throws {
    #expect(try image([Builder.box("clli", Builder.number(600, 2), Builder.number(100, 2))]).peakLight == 600)
    #expect(try image([Builder.box("clli", [0, 0, 0, 0])]).peakLight == nil)
    #expect(try image([]).peakLight == nil)
  }

  @Test func aCleanApertureIsAPartOfTheImage() throws {
    let centred = try image([Builder.aperture([60, 1, 40, 1, 0, 1, 0, 1])])
    #expect(centred.part == PixelRectangle(x: 2, y: 4, size: PixelSize(60, 40)))
    // Its centre is half a pixel to the left: the last column is not shown.
    let cornered = try image([Builder.aperture([63, 1, 48, 1, -1, 2, 0, 1])])
    #expect(cornered.part == PixelRectangle(x: 0, y: 0, size: PixelSize(63, 48)))
    for numbers in [[65, 1, 48, 1, 0, 1, 0, 1], [60, 1, 40, 1, 9, 1, 0, 1], [60, 0, 40, 1, 0, 1, 0, 1]] {
      #expect(throws: CodecError.self) { try image([Builder.aperture(numbers)]) }
    }
  }

  @Test func anApertureAfterARotationIsLeftToOthers() {
    #expect(throws: CodecError.handedOver(reason: "an aperture after a rotation")) {
      try image([Builder.box("irot", [1]), Builder.aperture([40, 1, 40, 1, 0, 1, 0, 1])])
    }
  }

  @Test func unknownPropertiesMatterOnlyWhereTheyAreEssential() throws {
    #expect(try image([Builder.box("abcd")]).size == PixelSize(64, 48))
    #expect(throws: CodecError.handedOver(reason: "an unknown property")) {
      try image([Builder.box("abcd")], isEssential: true)
    }
  }

  @Test func anImageHasTheAlphaThatRefersToIt() throws {
    let name = Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8)
    let items = try HEIFItems(
      meta: Builder.meta(
        [
          Builder.Item(id: 1, properties: [1, 2]), Builder.Item(id: 2, properties: [1, 2, 3]),
          Builder.Item(id: 3, properties: [1, 2, 4]),
        ],
        properties: [
          Builder.hevc(), Builder.extent(64, 48), Builder.fullBox("auxC", Array("urn:depth\0".utf8)),
          Builder.fullBox("auxC", name),
        ],
        references: [("auxl", from: 2, to: [1]), ("auxl", from: 3, to: [1])]), at: 0)
    #expect(try items.image(1).alpha == 3)
    #expect(try items.image(3).alpha == nil)
  }

  @Test func depthAndChromaComeFromTheConfiguration() throws {
    func coded(_ chroma: Int, _ bits: Int) throws -> HEIFImage {
      try HEIFItems(
        meta: Builder.meta(
          [Builder.Item(id: 1, properties: [1, 2])],
          properties: [Builder.hevc(chroma: chroma, bits: bits), Builder.extent(64, 48)]), at: 0
      ).image(1)
    }
    #expect(try coded(0, 8).chroma == .none)
    #expect(try coded(2, 10).chroma == .s422 && coded(2, 10).bits == 10)
    #expect(try coded(3, 12).chroma == .s444 && coded(3, 12).bits == 12)
  }

  @Test func theUnitsOfAnItemAreWithinIt() throws {
    let items = try HEIFItems(
      meta: Builder.meta([Builder.Item(id: 1, properties: [1])], properties: [Builder.hevc()]), at: 0)
    let configuration = try #require(items.item(1)?.hevc)
    #expect(configuration.parameterSets == [[0x42, 1]] && configuration.lengthBytes == 4)
    func units(_ bytes: [UInt8]) throws -> [Range<Int>] {
      try bytes.withUnsafeBytes { try configuration.units(in: $0) }
    }
    #expect(try units([0, 0, 0, 2, 7, 7, 0, 0, 0, 0, 0, 0, 0, 1, 9]) == [4..<6, 14..<15])
    #expect(throws: CodecError.truncated(detail: "in a coded image")) { try units([0, 0, 0, 3, 7, 7]) }
    #expect(throws: CodecError.truncated(detail: "in a coded image")) { try units([0, 0, 0]) }
  }

  @Test(arguments: [(0x00, ChromaFormat.s444, 8), (0x4C, .s420, 10), (0x68, .s422, 12), (0x1C, .none, 8)])
  func flagsOfAV1TellChromaAndDepth(_ flags: Int, _ chroma: ChromaFormat, _ bits: Int) throws {
    let image = try HEIFItems(
      meta: Builder.meta(
        [Builder.Item(id: 1, kind: "av01", properties: [1, 2])],
        properties: [Builder.box("av1C", [0x81, 0, UInt8(flags), 0]), Builder.extent(8, 8)]), at: 0
    ).image(1)
    #expect(image.coding == .av1 && image.chroma == chroma && image.bits == bits)
  }

  @Test func kindsThatAreNotCodedImagesAreLeftToOthers() throws {
    let items = try HEIFItems(
      meta: Builder.meta(
        [Builder.Item(id: 1, kind: "iovl", properties: [1])], properties: [Builder.extent(8, 8)]), at: 0)
    #expect(throws: CodecError.handedOver(reason: "an item of the kind iovl")) { try items.image(1) }
  }
}
