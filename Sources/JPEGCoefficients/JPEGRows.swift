package import ThumbnailCore

/// A JPEG that is read a row of MCUs at a time, at full size or, if it is progressive, at 1/2.
///
/// Each scan of a progressive file covers the whole image. A decoder that reads one after the other keeps all
/// coefficients until the last scan: two bytes each, 100 MB for 16 megapixels. This one reads all scans at once, each
/// from its own place in the file, and keeps the coefficients of one row of MCUs only.
package final class JPEGRows {
  /// A scan with its tables. The parts' planes have room for one row of MCUs.
  struct FoundScan {
    var scan: JPEGScan
    var parts: [ScanReader.Part]
    /// The offset of its coded data.
    var position: Int
    var restartInterval: Int
  }

  /// One plane or three. They hold one row of MCUs at a time, see `read`.
  package let planes: [JPEGPlane]
  /// The meaning of the planes' samples.
  package let colours: JPEGColours
  /// The file's ICC profile.
  package let profile: [UInt8]?

  private let decoder: CoefficientDecoder
  private let frame: JPEGFrame
  private let scalings: [BlockScaling]
  private let scans: [FoundScan]

  /// `scalings` has one for each of the frame's components.
  init(
    _ decoder: CoefficientDecoder, frame: JPEGFrame, planes: [JPEGPlane], scalings: [BlockScaling], scans: [FoundScan],
    colours: JPEGColours, profile: [UInt8]?
  ) {
    (self.decoder, self.frame, self.scans) = (decoder, frame, scans)
    (self.planes, self.scalings, self.colours, self.profile) = (planes, scalings, colours, profile)
  }

  /// Decodes the image from the top down. `receive` gets for each row of MCUs the rows of each plane, which are valid
  /// until it returns: the plane's index, the first sample, the bytes from a row to the next, the number of rows. It
  /// returns false to stop. Only samples in the `windows` of the planes have to be right; nothing below them is
  /// decoded.
  ///
  /// - Throws: `.truncated`, `.damaged`, `.cancelled`, `.unreadableBody`.
  package func read(
    windows: [PixelRectangle]? = nil,
    _ receive: (_ plane: Int, _ start: UnsafePointer<UInt8>, _ stride: Int, _ count: Int) -> Bool
  ) throws(CodecError) {
    try decoder.body.withMemory { memory throws(CodecError) in
      let readers = scans.map { OpenScan($0, frame: frame, body: decoder.body, memory: memory) }
      let end = zip(planes, windows ?? []).map { ($1.rows.upperBound - 1) / $0.samples.rows + 1 }.max()
      for row in 0..<min(frame.mcusDown, end ?? .max) {
        if decoder.cancellation.isSet { throw .cancelled }
        for plane in planes { plane.samples.clear() }
        for reader in readers { try reader.read(row) }
        for (index, plane) in planes.enumerated() {
          let (first, window) = (row * plane.samples.rows, windows?[index])
          if window?.rows.overlaps(first..<first + plane.samples.rows) ?? true {
            plane.samples.makeSamples(scalings[index], columns: window?.columns)
          }
          let count = min(plane.samples.rows, plane.size.height - row * plane.samples.rows)
          if count > 0, !receive(index, plane.start, plane.rowBytes, count) { return }
        }
      }
    }
  }

  /// A scan and its current position.
  private final class OpenScan {
    private var reader: ScanReader
    private var cursor: BodyCursor
    private var entropy: EntropyBuffer

    init(_ found: FoundScan, frame: JPEGFrame, body: any JPEGSource, memory: UnsafeRawBufferPointer?) {
      reader = ScanReader(found.scan, found.parts, frame: frame, restartInterval: found.restartInterval)
      cursor = BodyCursor(
        body, memory: memory, windowLength: memory == nil ? CoefficientDecoder.rowWindow : body.count)
      cursor.skip(found.position)
      entropy = EntropyBuffer(length: min(CoefficientDecoder.rowWindow, max(1, body.count)))
      entropy.clear()
    }

    func read(_ row: Int) throws(CodecError) { try reader.readMCUs(inRow: row, &cursor, &entropy) }
  }
}
