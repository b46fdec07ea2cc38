import Glibc
import HEIFContainer

/// Parses an ICC profile to find out whether it is sRGB.
///
/// Most embedded profiles are sRGB, in a dozen editions. Converting from them would cost 3 to 4 ms per image and change
/// nothing.
package struct ICCProfile {
  fileprivate let bytes: HeaderBytes
  fileprivate let tags: [String: Range<Int>]

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

  /// The samples of a pixel in a profile's colour space; nil for colour spaces that no reader here has.
  static func colourCount(_ profile: [UInt8]) -> Int? {
    let bytes = HeaderBytes(Array(profile.prefix(20)))
    return bytes.has("GRAY", at: 16) ? 1 : bytes.has("RGB ", at: 16) ? 3 : bytes.has("CMYK", at: 16) ? 4 : nil
  }

  /// A profile, if it describes samples of so many colours and can be applied to them; nil otherwise, because browsers
  /// ignore it, too. Decides for all formats.
  static func fitting(_ array: [UInt8]?, colours: Int) -> [UInt8]? {
    guard let array, colourCount(array) == colours, let profile = ICCProfile(array), profile.canBeApplied else {
      return nil
    }
    return array
  }

  /// Whether it is a device's, with tables, or with curves that are not level and primaries that are not in a plane.
  private var canBeApplied: Bool {
    guard (["scnr", "mntr", "prtr", "spac"] as [StaticString]).contains(where: { bytes.has($0, at: 12) }),
      bytes.has("XYZ ", at: 20) || bytes.has("Lab ", at: 20)
    else { return false }
    if hasTables { return true }
    let isGray = bytes.has("GRAY", at: 16)
    guard (isGray ? ["kTRC"] : Self.curves).allSatisfy({ curve($0, at: 0) != curve($0, at: 1) }) else { return false }
    guard !isGray, let p = primaries else { return isGray }
    let volume = (0..<3).reduce(0.0) { sum, axis in
      let (next, last) = ((axis + 1) % 3, (axis + 2) % 3)
      return sum + p[0][axis] * (p[1][next] * p[2][last] - p[1][last] * p[2][next])
    }
    return abs(volume) > Self.leastDeterminant
  }

  /// The longest profile that is kept, in bytes: profiles of printers have about one million.
  package static let longest = 4 << 20
  /// Of primaries whose matrix is inverted; that of sRGB is 0.2. The same as in Little CMS.
  private static let leastDeterminant = 0.0001
  private static let curves = ["rTRC", "gTRC", "bTRC"]
  /// The types of the tags that colours depend on (ICC.1:2022, 9).
  private static let types: [String: [StaticString]] = {
    let (curve, table): ([StaticString], [StaticString]) = (["curv", "para"], ["mft1", "mft2", "mAB ", "mBA "])
    var types: [String: [StaticString]] = ["wtpt": ["XYZ "], "chad": ["sf32"]]
    for name in ["rXYZ", "gXYZ", "bXYZ"] { types[name] = ["XYZ "] }
    for name in ["rTRC", "gTRC", "bTRC", "kTRC"] { types[name] = curve }
    for index in 0...3 { (types["A2B\(index)"], types["D2B\(index)"]) = (table, ["mpet"]) }
    return types
  }()

  /// Whether a thumbnail may keep it: its length is right, its tags lie within it, and the tags for colours have valid
  /// types.
  var isSound: Bool {
    let length = bytes.count
    guard length <= Self.longest, bytes.bigEndian(at: 0, count: 4) == length else { return false }
    return tags.allSatisfy { name, range in
      range.lowerBound >= 132 + 12 * tags.count && range.count >= 8 && range.upperBound <= length
        && Self.types[name].map { types in types.contains { bytes.has($0, at: range.lowerBound) } } != false
    }
  }

  /// Whether it has a table for the perceptual intent only: neither one for the relative intent nor primaries.
  var isPerceptualOnly: Bool { tags["A2B0"] != nil && tags["A2B1"] == nil && tags["rXYZ"] == nil }

  /// Whether primaries and tone curves alone define the colours: RGB in XYZ, without tables.
  var isMatrix: Bool {
    bytes.has("RGB ", at: 16) && bytes.has("XYZ ", at: 20) && !hasTables
  }

  private var hasTables: Bool { tags.keys.contains { $0.hasPrefix("A2B") || $0.hasPrefix("D2B") } }

  /// The XYZ of the red, green and blue primaries, for the profile's white of D50.
  var primaries: [[Double]]? {
    let found = ["rXYZ", "gXYZ", "bXYZ"].compactMap(xyz)
    return found.count == 3 ? found : nil
  }

  /// The light of each of the 256 levels of red, green and blue, from 0 to 1.
  var tones: [[Double]]? {
    let found = Self.curves.compactMap { name -> [Double]? in
      let values = (0..<256).compactMap { curve(name, at: Double($0) / 255) }
      return values.count == 256 && values.allSatisfy(\.isFinite) ? values : nil
    }
    return found.count == 3 ? found : nil
  }

  /// Whether the primaries and tone curves are sRGB's, and no other tag affects colours.
  var isSRGB: Bool {
    guard bytes.has("RGB ", at: 16), tags["A2B0"] == nil, tags["A2B1"] == nil else { return false }
    let primaries = [
      "rXYZ": [0.4361, 0.2225, 0.0139], "gXYZ": [0.3851, 0.7169, 0.0971], "bXYZ": [0.1431, 0.0606, 0.7141],
    ]
    for (name, expected) in primaries {
      guard let found = xyz(name), zip(found, expected).allSatisfy({ abs($0 - $1) < 0.003 }) else { return false }
    }
    return Self.curves.allSatisfy { name in
      [0.02, 0.2, 0.5, 0.8].allSatisfy { input in
        curve(name, at: input).map { abs($0 - Self.linear(input)) < 0.004 } ?? false
      }
    }
  }

  /// sRGB's tone curve.
  static func linear(_ value: Double) -> Double {
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

  /// The value of a tone curve: a table, a power, or a parametric form (ICC.1:2022, 10.6 and 10.18).
  fileprivate func curve(_ name: String, at input: Double) -> Double? {
    guard let start = tags[name]?.lowerBound else { return nil }
    if bytes.has("curv", at: start), let count = bytes.bigEndian(at: start + 8, count: 4) {
      switch count {
      case 0: return input
      case 1: return bytes.bigEndian(at: start + 12, count: 2).map { pow(input, Double($0) / 256) }
      default: return entry(start + 12, count: count, at: input * Double(count - 1))
      }
    }
    guard bytes.has("para", at: start), let form = bytes.bigEndian(at: start + 8, count: 2),
      let count = [1, 3, 4, 5, 7].dropFirst(form).first
    else { return nil }
    let found = (0..<count).compactMap { fixed(start + 12 + 4 * $0) }
    guard found.count == count else { return nil }
    // y = (a x + b)^g + e from x = d on, and c x + f below.
    let (g, a, b) = (found[0], count > 1 ? found[1] : 1, count > 2 ? found[2] : 0)
    let c = count > 4 ? found[3] : 0
    switch form {
    case 0: return pow(input, g)
    case 1: return input >= -b / a ? pow(max(0, a * input + b), g) : 0
    case 2: return input >= -b / a ? pow(max(0, a * input + b), g) + found[3] : found[3]
    default:
      let (e, f) = form == 4 ? (found[5], found[6]) : (0, 0)
      return input >= found[4] ? pow(max(0, a * input + b), g) + e : c * input + f
    }
  }

  /// A table's value between two entries of 16 bits.
  private func entry(_ start: Int, count: Int, at position: Double) -> Double? {
    let index = min(Int(position), count - 2)
    guard let below = bytes.bigEndian(at: start + 2 * index, count: 2),
      let above = bytes.bigEndian(at: start + 2 * index + 2, count: 2)
    else { return nil }
    let share = position - Double(index)
    return (Double(below) * (1 - share) + Double(above) * share) / 65535
  }
}

extension CodedLight {
  /// What a profile means: by its tag `cicp`, or by tone curves of PQ or HLG, as libjxl writes them.
  init?(profile: [UInt8]?) {
    guard let profile = profile.flatMap({ ICCProfile($0) }) else { return nil }
    if let start = profile.tags["cicp"]?.lowerBound, profile.bytes.has("cicp", at: start) {
      self.init(codePoints: profile.bytes.slice(start + 8..<start + 12))
      return
    }
    let curve = profile.tags["kTRC"] == nil ? "rTRC" : "kTRC"
    let red = profile.primaries?[0][0] ?? 0
    // BT.2020's and P3's red, for a white of D50.
    let primaries = abs(red - 0.6734) < 0.005 ? 9 : abs(red - 0.5151) < 0.005 ? 12 : 1
    let ranges = [16, 18].compactMap { transfer in
      CodedLight(CodedColour(primaries: primaries, transfer: transfer, matrix: 0, isFullRange: true))
    }
    let found = ranges.first { range in
      [0.25, 0.5, 0.75].allSatisfy { signal in
        profile.curve(curve, at: signal).map { abs($0 / range.light(signal) - 1) < 0.03 } ?? false
      }
    }
    guard let found else { return nil }
    self = found
  }
}
