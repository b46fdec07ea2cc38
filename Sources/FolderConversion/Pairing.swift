import ThumbnailCore

extension FolderConverter.Options {
  /// What is made of one picture that a camera has stored in two files.
  public enum Pairing: String, Sendable, CaseIterable {
    /// Each file is a picture of its own.
    case none
    /// A RAW file or HEIC is left out where a JPEG of the same name is converted from the same folder.
    case preferJPEG = "prefer-jpeg"
  }
}

extension InputList {
  /// Leaves out the RAW files and HEICs beside their JPEGs. The case of letters in names does not count.
  mutating func pairWithJPEGs() {
    var jpegs: Set<[UInt8]> = []
    for index in 0..<count where kind(at: index) == .picture {
      if let name = parts(at: index), Self.jpegExtensions.contains(name.end) { jpegs.insert(name.beginning) }
    }
    if jpegs.isEmpty { return }
    for index in 0..<count where kind(at: index) == .picture {
      guard let name = parts(at: index), Self.pairedExtensions.contains(name.end), jpegs.contains(name.beginning)
      else { continue }
      set(.paired, at: index)
    }
  }

  private static let jpegExtensions = Set(ImageFormat.jpeg.fileExtensions.map { Array($0.utf8) })
  private static let pairedExtensions = Set(
    (ImageFormat.raw.fileExtensions + ImageFormat.heif.fileExtensions).map { Array($0.utf8) })

  /// A file's path up to the extension, and the extension, in lower case; nil without one.
  private func parts(at index: Int) -> (beginning: [UInt8], end: [UInt8])? {
    let name = name(at: index)
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
    let folder = absolutePath(at: index).folder
    return (Array(folder) + name[..<dot].lowercasedASCII, name[(dot + 1)...].lowercasedASCII)
  }
}

extension Collection<UInt8> {
  /// The same with the letters A to Z in lower case.
  var lowercasedASCII: [UInt8] { map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
}
