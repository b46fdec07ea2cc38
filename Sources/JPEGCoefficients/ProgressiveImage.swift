/// A progressive JPEG that is read a row of MCUs at a time, at full size or 1/2.
///
/// Such a file has its coefficients in scans, each of which goes over the whole image; a decoder that reads them one
/// after the other keeps all coefficients until the last: two bytes for each, 100 MB for 16 megapixels. Here all scans
/// are read at once, each from its own place in the file, and of each only the row of MCUs that comes next. What is kept
/// are the coefficients of that row.
package final class ProgressiveImage {
  /// A scan, and what decoding it needs. The parts' planes have room for one row of MCUs.
  struct FoundScan {
    var scan: JPEGScan
    var parts: [ScanReader.Part]
    /// Where its coded data begins.
    var position: Int
    var restartInterval: Int
  }

  /// One plane, or three; their samples are a row of MCUs at a time, see `read`.
  package let planes: [JPEGPlane]
  /// What the planes' samples mean.
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
  /// returns false to stop. Only what lies in the `windows` of the planes need be right; nothing below them is decoded.
  ///
  /// - Throws: `.truncated`, `.damaged`, `.cancelled`, `.unreadable`.
  package func read(
    windows: [JPEGArea]? = nil,
    _ receive: (_ plane: Int, _ start: UnsafePointer<UInt8>, _ stride: Int, _ count: Int) -> Bool
  ) throws(JPEGError) {
    try decoder.body.withMemory { memory throws(JPEGError) in
      let readers = scans.map { OpenScan($0, frame: frame, body: decoder.body, memory: memory) }
      let end = zip(planes, windows ?? []).map { ($1.rows.upperBound - 1) / $0.samples.rows + 1 }.max()
      for row in 0..<min(frame.mcusDown, end ?? .max) {
        if decoder.isCancelled() { throw .cancelled }
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

  /// A scan at the place up to which it has been read.
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

    func read(_ row: Int) throws(JPEGError) { try reader.readMCUs(inRow: row, &cursor, &entropy) }
  }
}
