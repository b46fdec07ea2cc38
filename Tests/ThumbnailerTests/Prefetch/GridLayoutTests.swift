import Testing

@testable import TestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// Properties over random layouts, and what single cases say more plainly.
@Suite struct GridLayoutTests {
  /// Layouts with odd sizes, empty sections, headers and insets, the same at every run.
  private static func randomLayouts(_ count: Int) throws -> [GridLayout] {
    var random = SplitMix(state: 42)
    return try (0..<count).map { _ in
      let length = { (most: Double) in Bool.random(using: &random) ? 0 : Double.random(in: 0...most, using: &random) }
      let insets = GridInsets(top: length(30), left: length(30), bottom: length(30), right: length(30))
      let sections = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        GridLayout.Section(
          itemCount: Bool.random(using: &random)
            ? Int.random(in: 0...3, using: &random) : .random(in: 0...90, using: &random),
          headerHeight: length(50))
      }
      return try GridLayout(
        columns: .random(in: 1...7, using: &random),
        cell: GridSize(.random(in: 1...300, using: &random), .random(in: 0.3...300, using: &random)),
        spacing: length(20), insets: insets, sections: sections)
    }
  }

  @Test func whatIsVisibleIntersectsTheViewAndNothingElseDoes() throws {
    var random = SplitMix(state: 7)
    for layout in try Self.randomLayouts(150) {
      for _ in 0..<12 {
        let offset = Double.random(in: -500...layout.contentHeight + 500, using: &random)
        let height = Double.random(in: 0...900, using: &random)
        let visible = layout.items(from: offset, height: height)
        for index in 0..<layout.itemCount {
          let frame: GridFrame = try #require(layout.frame(ofItem: index))
          let isInView = height > 0 && frame.y < offset + height && frame.bottom > offset
          guard visible.contains(index) != isInView else { continue }
          Issue.record("item \(index) at \(frame) and a view from \(offset), \(height) high: \(visible)")
          return
        }
      }
    }
  }

  @Test func aViewThatTouchesARowsEdgeDoesNotShowIt() throws {
    for layout in try Self.randomLayouts(60) {
      for index in 0..<layout.itemCount {
        let frame = try #require(layout.frame(ofItem: index))
        #expect(layout.items(from: frame.y, height: frame.height).contains(index))
        #expect(!layout.items(from: frame.bottom, height: 10).contains(index))
        #expect(!layout.items(from: frame.y - 10, height: 10).contains(index) || frame.y - 10 + 10 > frame.y)
      }
    }
  }

  @Test func indicesAndPlacesInSectionsAreEachOthersInverse() throws {
    for layout in try Self.randomLayouts(60) {
      var next = 0
      for (number, section) in layout.sections.enumerated() {
        #expect(layout.items(inSection: number) == next..<next + section.itemCount)
        for item in 0..<section.itemCount {
          let place = GridIndex(section: number, item: item)
          #expect(layout.item(at: place) == next)
          #expect(layout.gridIndex(ofItem: next) == place)
          next += 1
        }
      }
      #expect(layout.itemCount == next)
      #expect(layout.gridIndex(ofItem: next) == nil && layout.gridIndex(ofItem: -1) == nil)
      #expect(layout.frame(ofItem: next) == nil)
      #expect(layout.item(at: GridIndex(section: layout.sections.count, item: 0)) == nil)
    }
  }

  @Test func framesFollowEachOtherWithoutOverlapWithinTheContent() throws {
    for layout in try Self.randomLayouts(60) {
      let frames = (0..<layout.itemCount).compactMap { layout.frame(ofItem: $0) }
      for (index, frame) in frames.enumerated() {
        #expect(frame.x >= 0 && frame.x + frame.width <= layout.contentWidth + 1e-9)
        #expect(frame.y >= 0 && frame.bottom <= layout.contentHeight + 1e-6)
        guard index > 0 else { continue }
        let former = frames[index - 1]
        #expect(frame.y == former.y ? frame.x >= former.x + former.width - 1e-9 : frame.y >= former.bottom - 1e-9)
      }
    }
  }

  @Test func changedSectionsLieAsIfTheyHadBeenSoFromTheStart() throws {
    var random = SplitMix(state: 3)
    for layout in try Self.randomLayouts(60) where !layout.sections.isEmpty {
      var changed = layout
      var sections = layout.sections
      let section = Int.random(in: sections.indices, using: &random)
      sections[section] = .init(itemCount: 17, headerHeight: sections[section].headerHeight)
      changed.setItemCount(17, inSection: section)
      let added = GridLayout.Section(itemCount: 5, headerHeight: 12)
      changed.append(added)
      let whole = try GridLayout(
        columns: layout.columns, cell: layout.cell, spacing: layout.spacing, insets: layout.insets,
        sections: sections + [added])
      #expect(changed == whole)
    }
  }

  @Test func theTutorialsGridIsAsItsDocumentationSays() throws {
    let layout = try GridLayout(columns: 2, cell: GridSize(200, 200), scale: 2, itemCount: 100_000)
    #expect(layout.items(from: 4_000, height: 1_200) == 40..<52)
    #expect(layout.cellPixels == PixelSize(400, 400))
    #expect(layout.contentHeight == 10_000_000)
    #expect(layout.contentWidth == 400)
    #expect(layout.frame(ofItem: 99_999) == GridFrame(x: 200, y: 9_999_800, width: 200, height: 200))
    #expect(layout.items(from: 9_999_900, height: 1_200) == 99_998..<100_000)
  }

  @Test func headersInsetsAndSpacingMoveTheCells() throws {
    let layout = try GridLayout(
      columns: 2, cell: GridSize(100, 50), spacing: 10, insets: GridInsets(top: 5, left: 7, bottom: 3, right: 9),
      sections: [.init(itemCount: 3, headerHeight: 20), .init(itemCount: 1, headerHeight: 30)])
    #expect(layout.frame(ofItem: 0) == GridFrame(x: 7, y: 25, width: 100, height: 50))
    #expect(layout.frame(ofItem: 2) == GridFrame(x: 7, y: 85, width: 100, height: 50))
    #expect(layout.headerFrame(ofSection: 1) == GridFrame(x: 0, y: 138, width: 226, height: 30))
    #expect(layout.frame(ofItem: 3) == GridFrame(x: 7, y: 173, width: 100, height: 50))
    #expect(layout.contentHeight == 226)
    // Between the rows, and in the header, nothing is in view.
    #expect(layout.items(from: 76, height: 8) == 2..<2)
    #expect(layout.items(from: 140, height: 20) == 3..<3)
  }

  @Test func aViewPulledOverAnEndShowsWhatIsThere() throws {
    let layout = try GridLayout(columns: 3, cell: GridSize(10, 10), itemCount: 8)
    #expect(layout.items(from: -15, height: 20) == 0..<3)
    #expect(layout.items(from: -50, height: 20).isEmpty)
    #expect(layout.items(from: 25, height: 20) == 6..<8)
    #expect(layout.items(from: 500, height: 20).isEmpty)
    #expect(layout.items(from: -1e300, height: 1e301) == 0..<8)
    #expect(layout.items(from: .infinity, height: 5).isEmpty)
    #expect(layout.items(from: .nan, height: 5).isEmpty)
  }

  @Test func anEmptyGridHasNoItems() throws {
    let layout = try GridLayout(columns: 3, cell: GridSize(10, 10))
    #expect(layout.items(from: 0, height: 100).isEmpty)
    #expect(layout.contentHeight == 0)
    let none = try GridLayout(columns: 3, cell: GridSize(10, 10), sections: [])
    #expect(none.items(from: 0, height: 100).isEmpty)
    #expect(none.itemCount(fillingDownTo: 100) == 0)
  }

  @Test func theNumberOfItemsThatFillTheContentIsTold() throws {
    let layout = try GridLayout(
      columns: 2, cell: GridSize(10, 10), sections: [.init(itemCount: 3), .init(itemCount: 1, headerHeight: 5)])
    #expect(layout.itemCount(fillingDownTo: 10) == 4)
    #expect(layout.itemCount(fillingDownTo: 26) == 5)
    #expect(layout.itemCount(fillingDownTo: 45) == 7)
    #expect(layout.itemCount(fillingDownTo: 46) == 9)
    #expect(layout.itemCount(fillingDownTo: -5) == 4)
  }

  @Test(arguments: [
    (0, GridSize(10, 10), 1.0, 0.0), (-1, GridSize(10, 10), 1, 0), (2, GridSize(0, 10), 1, 0),
    (2, GridSize(10, -1), 1, 0), (2, GridSize(.nan, 10), 1, 0), (2, GridSize(10, 10), 0, 0),
    (2, GridSize(10, 10), .infinity, 0), (2, GridSize(10, 10), 1, -1), (2, GridSize(10_000, 10), 2, 0),
    (.max, GridSize(10, 10), 1, 0),
  ])
  func valuesThatMakeNoGridAreRefused(columns: Int, cell: GridSize, scale: Double, spacing: Double) {
    #expect(throws: ThumbnailError.self) {
      try GridLayout(columns: columns, cell: cell, scale: scale, spacing: spacing)
    }
  }
}
