@testable import ThumbnailCore
@testable import Thumbnailer

/// Properties over random layouts, and what single cases say more plainly.
@Suite struct GridLayoutTests {
  /// Layouts with odd sizes, empty sections, headers and insets, the same at every run.
  private static func randomLayouts(_ count: Int) -> [GridLayout] {
    var random = SplitMix(state: 42)
    return (0..<count).map { _ in
      let length = { (most: Double) in Bool.random(using: &random) ? 0 : Double.random(in: 0...most, using: &random) }
      let insets = GridLayout.Insets(top: length(30), left: length(30), bottom: length(30), right: length(30))
      let sections = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        GridLayout.Section(
          itemCount: Bool.random(using: &random)
            ? Int.random(in: 0...3, using: &random) : .random(in: 0...90, using: &random),
          headerHeight: length(50))
      }
      return GridLayout(
        columns: .random(in: 1...7, using: &random),
        cell: PixelSize(.random(in: 3...900, using: &random), .random(in: 1...900, using: &random)),
        scale: .random(in: 2.5...3, using: &random), spacing: length(20), insets: insets, sections: sections)
    }
  }

  @Test func whatIsVisibleIntersectsTheViewAndNothingElseDoes() throws {
    var random = SplitMix(state: 7)
    for layout in Self.randomLayouts(150) {
      for _ in 0..<12 {
        let offset = Double.random(in: -500...layout.contentHeight + 500, using: &random)
        let height = Double.random(in: 0...900, using: &random)
        let visible = layout.items(from: offset, height: height)
        for index in 0..<layout.itemCount {
          let frame: CGRect = try #require(layout.frame(ofItem: index))
          let isInView = height > 0 && frame.minY < offset + height && frame.maxY > offset
          guard visible.contains(index) != isInView else { continue }
          Issue.record("item \(index) at \(frame) and a view from \(offset), \(height) high: \(visible)")
          return
        }
      }
    }
  }

  @Test func aViewThatTouchesARowsEdgeDoesNotShowIt() throws {
    for layout in Self.randomLayouts(60) {
      for index in 0..<layout.itemCount {
        let frame = try #require(layout.frame(ofItem: index))
        #expect(layout.items(from: frame.minY, height: frame.height).contains(index))
        #expect(!layout.items(from: frame.maxY, height: 10).contains(index))
        #expect(!layout.items(from: frame.minY - 10, height: 10).contains(index) || frame.minY - 10 + 10 > frame.minY)
      }
    }
  }

  @Test func indicesAndPlacesInSectionsAreEachOthersInverse() throws {
    for layout in Self.randomLayouts(60) {
      var next = 0
      for (number, section) in layout.sections.enumerated() {
        for item in 0..<section.itemCount {
          #expect(try #require(layout.place(ofItem: next)) == (number, item))
          next += 1
        }
      }
      #expect(layout.itemCount == next)
      #expect(layout.place(ofItem: next) == nil && layout.place(ofItem: -1) == nil)
      #expect(layout.frame(ofItem: next) == nil)
    }
  }

  @Test func framesFollowEachOtherWithoutOverlapWithinTheContent() throws {
    for layout in Self.randomLayouts(60) {
      let frames = (0..<layout.itemCount).compactMap { layout.frame(ofItem: $0) }
      for (index, frame) in frames.enumerated() {
        #expect(frame.minX >= 0)
        #expect(frame.minY >= 0 && frame.maxY <= layout.contentHeight + 1e-6)
        guard index > 0 else { continue }
        let former = frames[index - 1]
        #expect(
          frame.minY == former.minY ? frame.minX >= former.minX + former.width - 1e-9 : frame.minY >= former.maxY - 1e-9
        )
      }
    }
  }

  @Test func changedSectionsLieAsIfTheyHadBeenSoFromTheStart() throws {
    var random = SplitMix(state: 3)
    for layout in Self.randomLayouts(60) where !layout.sections.isEmpty {
      var changed = layout
      var sections = layout.sections
      let section = Int.random(in: sections.indices, using: &random)
      sections[section] = .init(itemCount: 17, headerHeight: sections[section].headerHeight)
      changed.setItemCount(17, inSection: section)
      let added = GridLayout.Section(itemCount: 5, headerHeight: 12)
      changed.append(added)
      let whole = GridLayout(
        columns: layout.columns, cell: layout.cell, scale: layout.scale, spacing: layout.spacing, insets: layout.insets,
        sections: sections + [added])
      #expect(changed == whole)
    }
  }

  @Test func theTutorialsGridIsAsItsDocumentationSays() throws {
    let layout = GridLayout(columns: 2, cell: PixelSize(400, 400), scale: 2, sections: [.init(itemCount: 100_000)])
    #expect(layout.items(from: 4_000, height: 1_200) == 40..<52)
    #expect(layout.contentHeight == 10_000_000)
    #expect(layout.frame(ofItem: 99_999) == CGRect(x: 200, y: 9_999_800, width: 200, height: 200))
    #expect(layout.items(from: 9_999_900, height: 1_200) == 99_998..<100_000)
  }

  @Test func headersInsetsAndSpacingMoveTheCells() throws {
    let layout = GridLayout(
      columns: 2, cell: PixelSize(100, 50), spacing: 10,
      insets: GridLayout.Insets(top: 5, left: 7, bottom: 3, right: 9),
      sections: [.init(itemCount: 3, headerHeight: 20), .init(itemCount: 1, headerHeight: 30)])
    #expect(layout.frame(ofItem: 0) == CGRect(x: 7, y: 25, width: 100, height: 50))
    #expect(layout.frame(ofItem: 2) == CGRect(x: 7, y: 85, width: 100, height: 50))
    #expect(layout.frame(ofItem: 3) == CGRect(x: 7, y: 173, width: 100, height: 50))
    #expect(layout.contentHeight == 226)
    // Between the rows, and in the header, nothing is in view.
    #expect(layout.items(from: 76, height: 8) == 2..<2)
    #expect(layout.items(from: 140, height: 20) == 3..<3)
  }

  @Test func aViewPulledOverAnEndShowsWhatIsThere() throws {
    let layout = GridLayout(columns: 3, cell: PixelSize(10, 10), sections: [.init(itemCount: 8)])
    #expect(layout.items(from: -15, height: 20) == 0..<3)
    #expect(layout.items(from: -50, height: 20).isEmpty)
    #expect(layout.items(from: 25, height: 20) == 6..<8)
    #expect(layout.items(from: 500, height: 20).isEmpty)
    #expect(layout.items(from: -1e300, height: 1e301) == 0..<8)
    #expect(layout.items(from: .infinity, height: 5).isEmpty)
    #expect(layout.items(from: .nan, height: 5).isEmpty)
  }

  @Test func anEmptyGridHasNoItems() throws {
    let layout = GridLayout(columns: 3, cell: PixelSize(10, 10))
    #expect(layout.items(from: 0, height: 100).isEmpty)
    #expect(layout.contentHeight == 0)
    let none = GridLayout(columns: 3, cell: PixelSize(10, 10), sections: [])
    #expect(none.items(from: 0, height: 100).isEmpty)
    #expect(none.itemCount(fillingDownTo: 100) == 0)
  }

  @Test func theNumberOfItemsThatFillTheContentIsTold() throws {
    let layout = GridLayout(
      columns: 2, cell: PixelSize(10, 10), sections: [.init(itemCount: 3), .init(itemCount: 1, headerHeight: 5)])
    #expect(layout.itemCount(fillingDownTo: 10) == 4)
    #expect(layout.itemCount(fillingDownTo: 26) == 5)
    #expect(layout.itemCount(fillingDownTo: 45) == 7)
    #expect(layout.itemCount(fillingDownTo: 46) == 9)
    #expect(layout.itemCount(fillingDownTo: -5) == 4)
  }

  @Test func valuesOutOfRangeAreReplacedByTheNearest() {
    let least = GridLayout(
      columns: -1, cell: PixelSize(0, -5), scale: 0, spacing: -1, insets: .init(top: -1, left: .infinity, right: .nan))
    #expect(least == GridLayout(columns: 1, cell: PixelSize(1, 1)))
    let most = GridLayout(columns: .max, cell: PixelSize(.max, 10), scale: .infinity, spacing: .nan)
    #expect(most == GridLayout(columns: 1_000_000, cell: PixelSize(PixelSize.longestThumbnailSide, 10)))
  }
}
