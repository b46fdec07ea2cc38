/// How a JPEG is coded, by the marker of its frame header.
package enum JPEGProcess: Sendable, Equatable {
  /// Block after block, Huffman coded (SOF0, SOF1).
  case sequential
  /// Scan after scan, each with some coefficients of all blocks, Huffman coded (SOF2).
  case progressive
  /// Arithmetic coding (SOF9, SOF10 and on).
  case arithmetic
  /// Without loss (SOF3 and its kin).
  case lossless
  /// In steps of size (SOF5 to SOF7).
  case hierarchical

  package init(marker: Int) {
    switch marker {
    case 0xC0, 0xC1: self = .sequential
    case 0xC2: self = .progressive
    case 0xC3, 0xCB: self = .lossless
    case 0xC5...0xC7: self = .hierarchical
    default: self = .arithmetic
    }
  }
}

/// What a JPEG's frame header says beyond its size, for those who read coefficients.
package struct JPEGFrameTraits: Sendable, Equatable {
  var process: JPEGProcess
  /// The components' identifiers, in the order of the header.
  var components: [UInt8]
  /// The bits of a sample.
  var precision: Int

  package init(process: JPEGProcess, components: [UInt8], precision: Int) {
    self.process = process
    self.components = components
    self.precision = precision
  }

  /// Why the coefficient reader cannot read such a file, in a few words; nil where it can, as far as the header tells.
  package var obstacle: String? {
    switch process {
    case .arithmetic: return "arithmetic coding"
    case .lossless: return "lossless coding"
    case .hierarchical: return "hierarchical coding"
    case .sequential, .progressive: break
    }
    if precision != 8 { return "\(precision) bits a sample" }
    if components.count != 1 && components.count != 3 { return "\(components.count) components" }
    if Set(components).count != components.count { return "two components of one name" }
    return nil
  }
}
