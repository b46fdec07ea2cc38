// Adapts the module JPEGCoefficients, which depends on nothing, to the codec's byte source, sizes and errors.

package import JPEGCoefficients
package import ThumbnailCore

extension ByteSource: JPEGSource {
  package func withMemory<Value>(
    _ body: (UnsafeRawBufferPointer?) throws(JPEGError) -> Value
  ) throws(JPEGError) -> Value {
    guard case .memory(let bytes) = self else { return try body(nil) }
    return try bytes.withUnsafeBytes { memory in Result { () throws(JPEGError) in try body(memory) } }.get()
  }
}

extension CoefficientDecoder {
  /// `size` is the size in the header; `window` the length of the reading window in bytes, for tests.
  package init(
    _ body: ByteSource, size: PixelSize, scale: JPEGScale, isTolerant: Bool = false, expectsEnd: Bool = false,
    cancellation: CancellationFlag, window: Int? = nil
  ) {
    self.init(
      body, storedSize: JPEGSize(size.width, size.height), scale: scale, isTolerant: isTolerant,
      expectsEnd: expectsEnd, isCancelled: { cancellation.isSet }, window: window)
  }
}

extension JPEGScale {
  /// The reduced size of an image of `size` pixels.
  func size(of size: PixelSize) -> PixelSize {
    let scaled = self.size(of: JPEGSize(size.width, size.height))
    return PixelSize(scaled.width, scaled.height)
  }
}

extension JPEGScale {
  /// The size of an image if libjpeg computes one pixel for each square of `reduction` pixels: a partial square counts.
  static func size(of size: PixelSize, reducedBy reduction: Int) -> PixelSize {
    PixelSize((size.width + reduction - 1) / reduction, (size.height + reduction - 1) / reduction)
  }
}

extension CodecError {
  init(_ error: JPEGError) {
    self =
      switch error {
      case .cancelled: .cancelled
      case .handedOver(let reason): .handedOver(reason: reason)
      case .truncated(let detail): .truncated(detail: detail)
      case .damaged(.header, let detail): .damaged(.header, detail: detail)
      case .damaged(.decode, let detail): .damaged(.decode, detail: detail)
      case .tooManyScans(let scans): .limitExceeded(.scans, value: scans, maximum: JPEGStructure.mostScans)
      case .unreadable(let detail): .unreadableBody(detail: detail)
      }
  }
}
