@testable import ImageCodec
@testable import JPEGCoefficients
@testable import ThumbnailCore

/// What finds the scans of a JPEG in its bytes: the watcher of a download finds the same in any pieces, and where it
/// says that the body is enough, the coefficient decoder makes of it what it makes of the whole.
func fuzzScans(_ input: FuzzInput) {
  countScans(input)
  var watcher = ScanWatcher()
  input.forEachPiece { watcher.feed($0) }
  var atOnce = ScanWatcher()
  input.bytes.withUnsafeBytes { atOnce.feed($0) }
  require(watcher.finestScale == atOnce.finestScale, "the pieces change the finest scale")
  let probe = try? probe(.memory(input.bytes), limits: .fuzzing)
  for scale in JPEGScale.reduced {
    let length = watcher.sufficientLength(for: scale)
    require(length == atOnce.sufficientLength(for: scale), "the pieces change what is sufficient at \(scale)")
    guard let probe, probe.format == .jpeg else { continue }
    func picture(_ bytes: [UInt8]) -> ReadPicture {
      ReadPicture(
        CoefficientDecoder(
          ByteSource.memory(bytes), size: probe.storedSize, scale: scale, cancellation: CancellationFlag()))
    }
    let whole = picture(input.bytes)
    if let length {
      require(length <= input.bytes.count, "\(length) bytes of \(input.bytes.count) are sufficient")
      let beginning = picture(Array(input.bytes.prefix(length)))
      require(beginning.isAsGood(as: whole), "at \(scale) \(whole), of its first \(length) bytes \(beginning)")
    }
  }
}

extension ReadPicture {
  /// Whether a part of the body gives the whole's picture, is handed over like it, or fails in whatever words.
  fileprivate func isAsGood(as whole: ReadPicture) -> Bool {
    switch (result, whole.result) {
    // Fewer bits than blocks, which nobody can read, may show before what would have been handed over.
    case (.failure(.truncated("in the coded data")), .failure): true
    case (.success, _), (_, .success), (_, .failure(.handedOver)): self == whole
    case (.failure, .failure): true
    }
  }
}

private func countScans(_ input: FuzzInput) {
  let counted = try? JPEGStructure(of: ByteSource.memory(input.bytes))
  let inFile = try? JPEGStructure(of: input.asFile())
  require(
    counted?.scanCount == inFile?.scanCount && counted?.firstScanBytes == inFile?.firstScanBytes, "in a file it differs"
  )
  require((counted?.scanCount ?? 0) <= JPEGStructure.mostScans + 1, "more scans were counted than asked for")
  require((counted?.firstScanBytes ?? 0) <= input.bytes.count, "a scan longer than the file")
}
