/// Which files belong together by their names, which differ in their extensions: the two files of a Live Photo, and a RAW
/// file or HEIC with its JPEG. The case of letters in names does not count. Takes memory for each film, and for each JPEG
/// of pairs.
package struct CompanionNames {
  private var films: [[UInt8]: UInt32] = [:]
  private var jpegs: Set<[UInt8]> = []
  private let pairs: Bool

  /// - Parameter pairs: Whether RAW files and HEICs belong to their JPEGs.
  package init(pairs: Bool) { self.pairs = pairs }

  /// Adds a file, with a number that identifies it.
  package mutating func add(_ path: RawPath, number: UInt32) {
    let (stem, end) = path.parts
    if end == Self.filmEnd { films[Self.key(path, stem)] = number }
    if pairs, Self.jpegEnds.contains(end) { jpegs.insert(Self.key(path, stem)) }
  }

  /// Whether a file is a RAW file or HEIC with its JPEG beside it.
  package func haveJPEG(beside path: RawPath) -> Bool {
    if jpegs.isEmpty { return false }
    let (stem, end) = path.parts
    return Self.pairedEnds.contains(end) && jpegs.contains(Self.key(path, stem))
  }

  /// The number of the film of a picture, which then is a Live Photo; nil for others.
  package func film(beside path: RawPath) -> UInt32? {
    if films.isEmpty { return nil }
    let (stem, end) = path.parts
    return Self.liveEnds.contains(end) ? films[Self.key(path, stem)] : nil
  }

  private static let filmEnd = "mov"
  private static let jpegEnds = Set(ImageFormat.jpeg.fileExtensions)
  private static let liveEnds: Set = ["jpg", "jpeg", "heic", "heif"]
  private static let pairedEnds = Set(ImageFormat.raw.fileExtensions + ImageFormat.heif.fileExtensions)

  private static func key(_ path: RawPath, _ stem: ArraySlice<UInt8>) -> [UInt8] {
    path.folder + stem[path.folder.endIndex...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }
}
