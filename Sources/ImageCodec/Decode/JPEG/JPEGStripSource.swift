import JPEGCoefficients
import ThumbnailCore

/// Decodes a JPEG by `JPEGRows`, in a few rows of memory: gray, or luma and chroma.
final class JPEGStripSource: RowSource {
  let layout: RowLayout
  private let image: JPEGRows
  private var isRead = false
  private var windows: [PixelRectangle]?

  /// Finds the file's scans.
  ///
  /// - Throws: `.handedOver` for files that libjpeg may read: of red, green and blue, without an end, or odd.
  init(_ decoder: CoefficientDecoder) throws(CodecError) {
    do throws(CodecError) {
      image = try decoder.survey()
    } catch {
      throw error.handedOver
    }
    let planes = image.planes.map { RowLayout.Plane($0) }
    switch image.colours {
    case .ycc: layout = RowLayout(planes: planes, profile: image.profile)
    case .gray: layout = RowLayout(.interleaved, planes: planes, profile: image.profile)
    case .rgb: throw .handedOver(reason: "red, green and blue")
    }
  }

  func limit(to windows: [PixelRectangle]) { self.windows = windows }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    if isRead { return false }
    isRead = true
    var failure: CodecError?
    do throws(CodecError) {
      try image.read(windows: windows) {
        plane, start, stride, count in
        do throws(CodecError) {
          try receive(RowBand(plane: plane, start: UnsafeRawPointer(start), stride: stride, count: count))
        } catch {
          failure = error
        }
        return failure == nil
      }
    } catch {
      throw error.handedOver
    }
    if let failure { throw failure }
    return true
  }
}

extension CodecError {
  /// The same, but damage is handed over, because libjpeg may decode more of the file.
  fileprivate var handedOver: CodecError { isDamage ? .handedOver(reason: "\(self)") : self }
}
