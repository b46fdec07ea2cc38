import Foundation

/// Parses an ICC profile to find out whether it is sRGB.
///
/// Most embedded profiles are sRGB, in a dozen editions. Converting from them would cost 3 to 4 ms per image and change
/// nothing.
struct ICCProfile {
  private let bytes: HeaderBytes
  private let tags: [String: Range<Int>]

  /// Parses the tag table. Nil if the bytes are no profile.
  init?(_ array: [UInt8]) {
    bytes = HeaderBytes(array)
    guard bytes.has("acsp", at: 36), let count = bytes.bigEndian(at: 128, count: 4), count <= 100 else { return nil }
    var tags: [String: Range<Int>] = [:]
    for index in 0..<count {
      let entry = 132 + 12 * index
      guard let offset = bytes.bigEndian(at: entry + 4, count: 4), let length = bytes.bigEndian(at: entry + 8, count: 4)
      else { return nil }
      tags[String(decoding: bytes.slice(entry..<entry + 4).array, as: UTF8.self)] = offset..<offset + length
    }
    self.tags = tags
  }

  /// Whether it has a table for the perceptual intent and nothing else: neither the relative intent's nor primaries.
  var isPerceptualOnly: Bool { tags["A2B0"] != nil && tags["A2B1"] == nil && tags["rXYZ"] == nil }

  /// Whether the primaries and tone curves are sRGB's, and no other tag affects colours.
  var isSRGB: Bool {
    guard bytes.has("RGB ", at: 16), tags["A2B0"] == nil, tags["A2B1"] == nil else { return false }
    let primaries = [
      "rXYZ": [0.4361, 0.2225, 0.0139], "gXYZ": [0.3851, 0.7169, 0.0971], "bXYZ": [0.1431, 0.0606, 0.7141],
    ]
    for (name, expected) in primaries {
      guard let found = xyz(name), zip(found, expected).allSatisfy({ abs($0 - $1) < 0.003 }) else { return false }
    }
    return ["rTRC", "gTRC", "bTRC"].allSatisfy { name in
      [0.02, 0.2, 0.5, 0.8].allSatisfy { input in
        curve(name, at: input).map { abs($0 - Self.linear(input)) < 0.004 } ?? false
      }
    }
  }

  /// sRGB's tone curve.
  private static func linear(_ value: Double) -> Double {
    value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  /// A signed 16.16 fixed-point number.
  private func fixed(_ offset: Int) -> Double? {
    bytes.bigEndian(at: offset, count: 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65536 }
  }

  private func xyz(_ name: String) -> [Double]? {
    guard let start = tags[name]?.lowerBound, bytes.has("XYZ ", at: start), let x = fixed(start + 8),
      let y = fixed(start + 12), let z = fixed(start + 16)
    else { return nil }
    return [x, y, z]
  }

  /// The value of a tone curve: a table, or the parametric form that sRGB profiles use.
  private func curve(_ name: String, at input: Double) -> Double? {
    guard let start = tags[name]?.lowerBound else { return nil }
    if bytes.has("curv", at: start), let count = bytes.bigEndian(at: start + 8, count: 4), count > 16 {
      let index = Int((input * Double(count - 1)).rounded())
      return bytes.bigEndian(at: start + 12 + 2 * index, count: 2).map { Double($0) / 65535 }
    }
    guard bytes.has("para", at: start), bytes.bigEndian(at: start + 8, count: 2) == 3 else { return nil }
    let parameters = (0..<5).compactMap { fixed(start + 12 + 4 * $0) }
    guard parameters.count == 5 else { return nil }
    let (g, a, b, c, d) = (parameters[0], parameters[1], parameters[2], parameters[3], parameters[4])
    return input >= d ? pow(max(0, a * input + b), g) : c * input
  }
}
