import Foundation

/// The pictures of a folder and its subfolders: names only, kept close together, about 40 bytes each.
///
/// In order: a folder's own pictures, then its subfolders one after the other; both in natural order.
struct FolderListing: Sendable {
  /// Where one picture's name is.
  struct Entry: Sendable {
    /// The place in `folders` of the folder that holds it.
    var folder: UInt32
    /// The name's length in bytes.
    var length: UInt32
    /// Where in `names` the name begins.
    var start: Int
  }

  /// The folders, as paths relative to the listed one, each with a slash behind it; the listed one itself is empty.
  private let folders: [String]
  /// The names of all pictures, UTF-8, one after the other.
  private let names: [UInt8]
  private let entries: [Entry]
  /// What could not be listed.
  let skipped: [SkippedItem]

  init(folders: [String], names: [UInt8], entries: [Entry], skipped: [SkippedItem]) {
    self.folders = folders
    self.names = names
    self.entries = entries
    self.skipped = skipped
  }

  /// The number of pictures.
  var count: Int { entries.count }

  /// The name of a picture.
  func name(at index: Int) -> String { String(decoding: nameBytes(entries[index]), as: UTF8.self) }
  /// The path of a picture, relative to the listed folder.
  func path(at index: Int) -> String { folders[Int(entries[index].folder)] + name(at: index) }

  /// The places of the pictures in whose path all the words occur, in order; the words as `SearchText.words` gives
  /// them. Nil when `cancelled` is set meanwhile.
  func indices(matching words: [[UInt8]], cancelled: CancellationFlag) -> [UInt32]? {
    var matches: [UInt32] = []
    var folder = UInt32.max
    var prefix: [UInt8] = []
    var text: [UInt8] = []
    for (index, entry) in entries.enumerated() {
      if index & 1023 == 0, cancelled.isSet { return nil }
      if entry.folder != folder {
        folder = entry.folder
        prefix.removeAll(keepingCapacity: true)
        SearchText.appendFolded(folders[Int(folder)].utf8, to: &prefix)
      }
      text.removeAll(keepingCapacity: true)
      text.append(contentsOf: prefix)
      SearchText.appendFolded(nameBytes(entry), to: &text)
      if words.allSatisfy({ Self.contains(text, $0) }) { matches.append(UInt32(index)) }
    }
    return matches
  }

  private func nameBytes(_ entry: Entry) -> ArraySlice<UInt8> { names[entry.start..<entry.start + Int(entry.length)] }

  private static func contains(_ text: [UInt8], _ word: [UInt8]) -> Bool {
    guard let first = word.first else { return true }
    return text.withUnsafeBytes { text in
      word.withUnsafeBytes { word in
        guard let wordBase = word.baseAddress else { return true }
        var offset = 0
        while text.count - offset >= word.count, let base = text.baseAddress {
          guard let hit = memchr(base + offset, Int32(first), text.count - offset - word.count + 1) else {
            return false
          }
          if memcmp(hit, wordBase, word.count) == 0 { return true }
          offset = UnsafeRawPointer(hit) - base + 1
        }
        return false
      }
    }
  }
}
