import Foundation

/// Brings texts into the form in which names and queries are compared: without case, accents, and differences of
/// encoding. `lac léman`, `LAC LÉMAN` and the same with combining accents become `lac leman`.
package enum SearchText {
  /// Letters with a stroke, which Unicode does not take apart, as people type them who lack the key.
  private static let strokes: [Unicode.Scalar: Unicode.Scalar] = [
    "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ƶ": "z",
  ]

  /// The form in which a text is compared.
  ///
  /// Compatible forms count as the same (`ﬁ` and `fi`, full-width letters), `ß` is `ss`. Marks that are letters of
  /// their own in their scripts, such as the vowels of Devanagari or the voicing of kana, stay.
  package static func folded(_ text: String) -> String {
    var text = text
    if let ascii = text.utf8.withContiguousStorageIfAvailable(isASCII), ascii { return text.lowercased() }
    text = text.decomposedStringWithCompatibilityMapping
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      // Class 1 are strokes through a letter; from 202 on the marks attached to, above and below one.
      let mark = scalar.properties.canonicalCombiningClass.rawValue
      if mark == 1 || mark >= 202 { continue }
      // By way of the capitals, so that ß and SS, σ and ς are the same.
      for upper in scalar.properties.uppercaseMapping.unicodeScalars {
        for lower in upper.properties.lowercaseMapping.unicodeScalars { scalars.append(strokes[lower] ?? lower) }
      }
    }
    return String(scalars).precomposedStringWithCanonicalMapping
  }

  /// The words of a query in that form, as UTF-8.
  package static func words(of query: String) -> [[UInt8]] {
    folded(query).split(whereSeparator: \.isWhitespace).map { Array($0.utf8) }
  }

  /// Appends the compared form of UTF-8 text to a buffer. Plain ASCII, by far the most names, costs nothing but the
  /// copy.
  package static func appendFolded(_ bytes: some Collection<UInt8>, to buffer: inout [UInt8]) {
    if bytes.allSatisfy({ $0 < 0x80 }) {
      for byte in bytes { buffer.append((0x41...0x5a).contains(byte) ? byte | 0x20 : byte) }
    } else {
      buffer.append(contentsOf: folded(String(decoding: bytes, as: UTF8.self)).utf8)
    }
  }

  private static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool { bytes.allSatisfy { $0 < 0x80 } }
}
