/// Which RAW files and HEICs have a JPEG beside them, by their names, which differ in their extensions. The case of letters
/// in names does not count. Takes memory for each JPEG.
package struct CompanionNames {
  private var jpegs: Set<[UInt8]> = []

  package init() {}

  /// Adds a file.
  package mutating func add(_ path: RawPath) {
    let (stem, end) = path.parts
    if Self.jpegEnds.contains(end) { jpegs.insert(Self.key(path, stem)) }
  }

  /// Whether a file is a RAW file or HEIC with its JPEG beside it.
  package func haveJPEG(beside path: RawPath) -> Bool {
    if jpegs.isEmpty { return false }
    let (stem, end) = path.parts
    return Self.pairedEnds.contains(end) && jpegs.contains(Self.key(path, stem))
  }

  private static let jpegEnds = Set(ImageFormat.jpeg.fileExtensions)
  private static let pairedEnds = Set(ImageFormat.raw.fileExtensions + ImageFormat.heif.fileExtensions)

  private static func key(_ path: RawPath, _ stem: ArraySlice<UInt8>) -> [UInt8] {
    path.folder + stem[path.folder.endIndex...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }
}
