@testable import RAWPreviews

import TestSupport

/// The cameras' files of the shared corpus, which is not part of the project; where it is absent the tests are skipped.
@Suite struct RAWCorpusTests {
  private static let root = SharedCorpus.root.appending(path: "raw")
  private static let isPresent = FileManager.default.fileExists(atPath: root.path)

  /// The readable previews of each file: width, height, position, length.
  private static let expected: [(name: String, format: RAWFormat, previews: [[Int]])] = [
    ("canon_eos_6d.dng", .dng, [[256, 171, 135960, 9624], [1024, 683, 145584, 57901]]),
    ("canon-r6.cr3", .cr3, [[160, 120, 18288, 12840], [1620, 1080, 99008, 237313]]),
    ("b.CR3", .cr3, [[160, 120, 18288, 16005], [1620, 1080, 102176, 389450]]),
    ("et-FujiFilm.raf", .raf, [[8, 8, 148, 12167], [160, 120, 2704, 9362]]),
    ("et-Panasonic.rw2", .rw2, [[8, 8, 1536, 10785]]),
    ("et-CanonRaw.cr2", .cr2, []), ("et-CanonRaw.cr3", .cr3, []), ("et-DNG.dng", .dng, []),
    ("et-Nikon.nef", .nef, []), ("et-Minolta.mrw", .mrw, []),
  ]

  /// Where the files without a readable preview have their dummies.
  private static let dummies: [String: [[Int]]] = [
    "et-Nikon.nef": [[1120, 29], [5958, 26]], "et-DNG.dng": [[12780, 26], [13070, 29]],
    "et-Minolta.mrw": [[2130, 26]],
  ]

  @Test(.enabled(if: isPresent, "the shared corpus is absent")) func thePreviewsOfCamerasFilesAreFound() throws {
    for (name, format, previews) in Self.expected {
      let bytes = Array(try Data(contentsOf: Self.root.appending(path: name)))
      let file = try #require(RAWSamples.read(bytes).file, "\(name)")
      #expect(file.format == format && file.orientation == 1, "\(name)")
      #expect(file.previews.map { [$0.width, $0.height, $0.range.lowerBound, $0.range.count] } == previews, "\(name)")
      if let dummies = Self.dummies[name] {
        #expect(file.images.map { [$0.range.lowerBound, $0.range.count] } == dummies, "\(name)")
      }
    }
  }
}
