package import ThumbnailCore

/// The coding process of a JPEG, from the marker of its frame header.
package enum JPEGProcess: Sendable, Equatable {
  /// Huffman coded, block by block (SOF0, SOF1).
  case sequential
  /// Huffman coded in scans, each with some coefficients of all blocks (SOF2).
  case progressive
  /// Arithmetic coded (SOF9, SOF10). The others are refused by their headers.
  case arithmetic

  package init(marker: Int) {
    switch marker {
    case 0xC0, 0xC1: self = .sequential
    case 0xC2: self = .progressive
    default: self = .arithmetic
    }
  }
}

/// The properties of a JPEG's frame header that the coefficient decoder needs, besides the size.
package struct JPEGFrameTraits: Sendable, Equatable {
  var process: JPEGProcess
  /// The components' identifiers, in header order.
  var components: [UInt8]
  /// The most pixels across or down per sample of a component.
  package var subsampling: Int
  /// The pixels of an MCU if all components are in one scan.
  package var mcu: PixelSize

  package init(
    process: JPEGProcess, components: [UInt8], subsampling: Int = 1, mcu: PixelSize = PixelSize(8, 8)
  ) {
    (self.process, self.mcu) = (process, mcu)
    self.subsampling = subsampling
    self.components = components
  }

  /// Whether a file is read a row of MCUs at a time at a scale, as far as the header shows.
  package func isReadByRows(at scale: JPEGScale) -> Bool {
    guard obstacle == nil, components != Self.redGreenBlue else { return false }
    return scale == .full || scale == .half && process == .progressive
  }

  /// Whether a part can become a file of its own, as far as the header shows.
  package var isCroppedLosslessly: Bool { process == .sequential && obstacle == nil }

  /// The identifiers of red, green and blue without an Adobe segment.
  private static let redGreenBlue = Array("RGB".utf8)

  /// The reason why the coefficient decoder cannot read such a file, in a few words; nil if it can, as far as the
  /// header shows.
  package var obstacle: String? {
    if process == .arithmetic { return "arithmetic coding" }
    if components.count != 1 && components.count != 3 { return "\(components.count) components" }
    if Set(components).count != components.count { return "two components of one name" }
    return nil
  }
}
