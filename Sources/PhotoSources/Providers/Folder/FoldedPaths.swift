import Foundation
import ThumbnailCache
import ThumbnailCore

/// The paths of a folder's images as searches compare them (`SearchText`), in one buffer: a byte more than their lengths.
/// Those with letters that are also written as two have both spellings.
struct FoldedPaths: Sendable {
  /// Stands between the spellings.
  private static let mark: UInt8 = 1
  /// Each with a zero behind it.
  private var text: [UInt8] = []
  /// The path of the last folder, and its text.
  private var folder: (path: [UInt8], text: [UInt8]) = ([], [])

  init() {}

  /// All paths of a list. Blocks.
  init(_ list: PathList) throws(SystemFailure) { try list.forEach { append($1) } }

  /// Adds the next image of the list.
  mutating func append(_ record: PathRecord) {
    if !record.folder.elementsEqual(folder.path) {
      folder = (Array(record.folder), [])
      SearchText.appendFolded(record.folder, to: &folder.text)
    }
    text += folder.text
    SearchText.appendFolded(record.name, to: &text)
    if (record.folder + record.name).contains(where: { $0 >= 0x80 }),
      let paired = SearchText.paired(String(decoding: record.path, as: UTF8.self))
    {
      text += [Self.mark] + paired.utf8
    }
    text.append(0)
  }

  /// The indices of the images whose paths contain all words, ascending; the words as returned by `SearchText.spellings`.
  /// Fails with `ECANCELED` if `cancelled` is set meanwhile. A word that ends as such letters do is found in the paths
  /// as they are: `blue` means no `Blüte`.
  ///
  /// - Parameter isOther: Whether a word that is not in the path, by its number, is in something else of an image.
  func indices(
    matching words: [[UInt8]], or others: [[UInt8]?] = [], cancelled: CancellationFlag,
    orIf isOther: (Int, Int) -> Bool = { _, _ in false }
  ) throws(SystemFailure) -> [UInt32] {
    let areEnded = words.map { word in ["ae", "oe", "ue"].contains { word.suffix(2).elementsEqual($0.utf8) } }
    return try text.withUnsafeBufferPointer { text throws(SystemFailure) in
      var (matches, index, rest): ([UInt32], Int, UnsafeBufferPointer<UInt8>) = ([], 0, text)
      while let length = rest.firstIndex(of: 0) {
        if index & 1023 == 0, cancelled.isSet { throw SystemFailure(code: ECANCELED) }
        let path = UnsafeBufferPointer(rebasing: rest[..<length])
        let isIn = { (word: Int) in
          let end = areEnded[word] ? path.firstIndex(of: Self.mark) : nil
          return Self.contains(end.map { UnsafeBufferPointer(rebasing: path[..<$0]) } ?? path, words[word])
            || others.dropFirst(word).first?.map { Self.contains(path, $0) } == true
        }
        if words.indices.allSatisfy({ isIn($0) || isOther($0, index) }) {
          matches.append(UInt32(index))
        }
        index += 1
        rest = UnsafeBufferPointer(rebasing: rest[(length + 1)...])
      }
      return matches
    }
  }

  private static func contains(_ text: UnsafeBufferPointer<UInt8>, _ word: [UInt8]) -> Bool {
    guard let first = word.first, var base = UnsafeRawPointer(text.baseAddress) else { return word.isEmpty }
    let end = base + text.count
    while end - base >= word.count, let hit = memchr(base, Int32(first), end - base - word.count + 1) {
      if memcmp(hit, word, word.count) == 0 { return true }
      base = UnsafeRawPointer(hit) + 1
    }
    return false
  }
}
