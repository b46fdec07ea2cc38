// The formats whose previews are found by the file's own header: Fujifilm's and Minolta's.

extension RAWWalk {
  private enum RAF {
    /// The positions of the JPEG's position and length.
    static let jpegStart = 84
    static let jpegLength = 88
  }

  mutating func walkRAF() throws(MissingBytes) {
    settle(.raf)
    guard let start = try known.number(at: RAF.jpegStart, count: 4, isBigEndian: true),
      let length = try known.number(at: RAF.jpegLength, count: 4, isBigEndian: true)
    else { return }
    add(.header, at: start, length: length)
  }

  /// The most blocks of an MRW. Real files have five.
  private static let mostBlocks = 32

  /// An MRW begins with blocks, one of which is a TIFF structure. It ends before the samples.
  mutating func walkMRW() throws(MissingBytes) {
    settle(.mrw)
    guard let length = try known.number(at: 4, count: 4, isBigEndian: true) else { return }
    var position = 8
    for _ in 0..<Self.mostBlocks {
      guard position + 8 <= 8 + length,
        let size = try known.number(at: position + 4, count: 4, isBigEndian: true)
      else { return }
      if try known.has("\0TTW", at: position) {
        var tiff = TIFFWalk(known, base: position + 8)
        guard try tiff.readHeader() else { return }
        return try tiff.run(&self)
      }
      position += 8 + size
    }
  }
}
