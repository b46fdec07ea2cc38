import Foundation

/// Normalises texts for comparing names and queries: removes differences of case, accents and encoding. `lac léman`,
/// `LAC LÉMAN` and the same with combining accents become `lac leman`.
package enum SearchText {
  /// Letters with a stroke, which Unicode does not decompose, and the letters that people type instead.
  private static let strokes: [Unicode.Scalar: Unicode.Scalar] = [
    "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ƶ": "z",
  ]

  /// The normalised form of a text.
  ///
  /// Compatible forms count as the same (`ﬁ` and `fi`, full-width letters), `ß` is `ss`. Marks that are letters of
  /// their own in their scripts, such as the vowels of Devanagari or the voicing of kana, are kept.
  package static func folded(_ text: String) -> String {
    var text = text
    if let ascii = text.utf8.withContiguousStorageIfAvailable(isASCII), ascii { return text.lowercased() }
    text = text.decomposedStringWithCompatibilityMapping
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      // Combining class 1 are overlays (strokes). Classes from 202 on are marks attached to, above and below a letter.
      let mark = scalar.properties.canonicalCombiningClass.rawValue
      if mark == 1 || mark >= 202 { continue }
      // Maps to upper case first, so that ß and SS, σ and ς are the same.
      for upper in scalar.properties.uppercaseMapping.unicodeScalars {
        for lower in upper.properties.lowercaseMapping.unicodeScalars { scalars.append(strokes[lower] ?? lower) }
      }
    }
    return String(scalars).precomposedStringWithCanonicalMapping
  }

  /// Letters that are also written as two.
  private static let pairs: [Character: String] = ["ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"]

  /// The normalised form of a text with such letters written as two, `mueller` of `Müller`; nil if it has none.
  package static func paired(_ text: some StringProtocol) -> String? {
    let text = text.precomposedStringWithCompatibilityMapping.lowercased()
    guard text.contains(where: { pairs[$0] != nil }) else { return nil }
    return folded(text.map { pairs[$0] ?? String($0) }.joined())
  }

  /// The normalised words of a query, as UTF-8.
  package static func words(of query: String) -> [[UInt8]] { spellings(of: query).map(\.word) }

  /// The same, each with how it is written in pairs.
  package static func spellings(of query: String) -> [(word: [UInt8], paired: [UInt8]?)] {
    query.precomposedStringWithCompatibilityMapping.split(whereSeparator: \.isWhitespace).map { word in
      (Array(folded(String(word)).utf8), paired(word).map { Array($0.utf8) })
    }
  }

  /// Appends the normalised form of UTF-8 text to a buffer. ASCII, the most common case, has a fast path.
  package static func appendFolded(_ bytes: ArraySlice<UInt8>, to buffer: inout [UInt8]) {
    if bytes.allSatisfy({ $0 < 0x80 }) {
      for byte in bytes { buffer.append((0x41...0x5a).contains(byte) ? byte | 0x20 : byte) }
    } else {
      buffer.append(contentsOf: folded(String(decoding: bytes, as: UTF8.self)).utf8)
    }
  }

  private static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool { bytes.allSatisfy { $0 < 0x80 } }
}
