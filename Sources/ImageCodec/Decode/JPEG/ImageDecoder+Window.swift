import JPEGCoefficients
import ThumbnailCore

/// The known beginnings of rows of a JPEG: see `CoefficientDecoder.crop`.
package struct RowIndex: Sendable, Equatable {
  /// The longest one in bytes.
  package static let longest = JPEGRowIndex.longest

  /// Empty if nothing is known.
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8] = []) { self.bytes = bytes }
}

/// An index that decodes use and extend. It belongs to one thread.
package final class SharedIndex {
  package fileprivate(set) var value: RowIndex

  package init(_ value: RowIndex) { self.value = value }
}

extension ImageDecoder {
  /// The decoder of the part of a JPEG that the pass needs, as a file of its own; this decoder if that is all of it.
  ///
  /// - Throws: `.handedOver` for a file that libjpeg may read; damage that the coefficient reader would find, too.
  func ofWindow() throws(CodecError) -> ImageDecoder {
    guard let window = pass.window else { return self }
    var part = self
    // A crop may end before the damage.
    guard JPEGStructure.hasEnd(body) else { throw .handedOver(reason: "no end marker behind the coded data") }
    do throws(CodecError) {
      part.body = .memory(try crop(to: window))
    } catch {
      if case .jpeg = pass.reader, error.isDamage { throw .handedOver(reason: "\(error)") }
      throw error
    }
    part.plan.probe.storedSize = window.size
    part.pass.window = nil
    return part
  }

  /// The part as a file. If reading it by the index fails, the index may be wrong, and the file is read without it.
  private func crop(to area: PixelRectangle) throws(CodecError) -> [UInt8] {
    var known = index?.value.bytes
    defer { if let known { index?.value = RowIndex(known) } }
    if known?.isEmpty == false {
      do throws(CodecError) {
        return try coefficients(at: .full).crop(to: area, index: &known)
      } catch {
        if case .cancelled = error { throw error }
        known = []
      }
    }
    return try coefficients(at: .full).crop(to: area, index: &known)
  }
}
