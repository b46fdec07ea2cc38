import JPEGCoefficients
import ThumbnailCore

/// The index of a JPEG's rows that is known before a decode, and that is known after it: see `CoefficientDecoder.crop`.
package final class RowIndex {
  /// The longest one in bytes.
  package static let longest = JPEGRowIndex.longest

  /// Empty where there is none yet.
  package fileprivate(set) var bytes: [UInt8]?

  package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

extension ImageDecoder {
  /// The decoder of the part of a JPEG that the pass needs, as a file of its own; itself where that is all.
  ///
  /// - Throws: `.handedOver` for a file that libjpeg may read; damage where the coefficient reader would find it, too.
  func ofWindow() throws(CodecError) -> ImageDecoder {
    guard let window = pass.window else { return self }
    let area = JPEGArea(columns: window.columns, rows: window.rows)
    var part = self
    do throws(JPEGError) {
      var known = index?.bytes
      part.body = .memory(try coefficients(at: .full).crop(to: area, index: &known))
      index?.bytes = known
    } catch {
      let error = CodecError(error)
      if case .jpeg = pass.reader, error.isDamage { throw .handedOver(reason: "\(error)") }
      throw error
    }
    part.plan.probe.storedSize = window.size
    part.pass.window = nil
    return part
  }
}
