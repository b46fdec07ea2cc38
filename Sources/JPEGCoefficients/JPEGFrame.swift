import ThumbnailCore

/// One component of a JPEG, from the frame header and completed by the scans.
struct JPEGComponent {
  var identifier: UInt8
  /// The sampling factors, 1 to 4.
  var across: Int
  var down: Int
  /// The slot of its quantisation table (Tq).
  var tableSlot: Int
  /// The number of blocks that hold its samples.
  var blocksAcross = 0
  var blocksDown = 0
  /// The number of blocks in all MCUs, padding included.
  var storedAcross = 0
  var storedDown = 0
  /// Its 64 quantisers in zigzag order at its first scan; nil before.
  var quantisers: [Int32]?
}

/// A JPEG's frame header (SOF).
struct JPEGFrame {
  var process: JPEGProcess
  var size: PixelSize
  var components: [JPEGComponent]
  /// The largest sampling factors.
  var mostAcross: Int
  var mostDown: Int
  /// The number of MCUs in a scan of several components.
  var mcusAcross: Int
  var mcusDown: Int
  /// Whether full-size chroma is read at 1/2 where luma is read at 1/1.
  var halvesChroma = false

  /// Parses the header: the bytes after the segment's length.
  ///
  /// - Throws: `.handedOver` if libvips may succeed, `.damaged` if no decoder can.
  init(_ bytes: SegmentBytes, marker: UInt8) throws(CodecError) {
    process = JPEGProcess(marker: Int(marker))
    guard bytes[0] == 8, let height = bytes.bigEndian(at: 1, count: 2), let width = bytes.bigEndian(at: 3, count: 2),
      let count = bytes[5], bytes.count == 6 + 3 * count, width > 0, height > 0
    else { throw .damaged(.header, detail: "the frame header") }
    size = PixelSize(width, height)
    components = []
    for index in 0..<count {
      guard let identifier = bytes[6 + 3 * index], let sampling = bytes[7 + 3 * index], let slot = bytes[8 + 3 * index]
      else { throw .damaged(.header, detail: "the frame header") }
      let (across, down) = (sampling >> 4, sampling & 15)
      guard (1...4).contains(across), (1...4).contains(down) else {
        throw .damaged(.header, detail: "sampling factors")
      }
      components.append(
        JPEGComponent(identifier: UInt8(identifier), across: across, down: down, tableSlot: slot))
    }
    let traits = JPEGFrameTraits(process: process, components: components.map { $0.identifier })
    if let obstacle = traits.obstacle { throw .handedOver(reason: obstacle) }
    mostAcross = components.map { $0.across }.max() ?? 1
    mostDown = components.map { $0.down }.max() ?? 1
    mcusAcross = Self.quotient(width, 8 * mostAcross)
    mcusDown = Self.quotient(height, 8 * mostDown)
    for index in components.indices {
      let (across, down) = (components[index].across, components[index].down)
      guard mostAcross % across == 0, mostDown % down == 0 else {
        throw .handedOver(reason: "sampling factors that are no multiples of each other")
      }
      components[index].blocksAcross = Self.quotient(width * across, 8 * mostAcross)
      components[index].blocksDown = Self.quotient(height * down, 8 * mostDown)
      components[index].storedAcross = mcusAcross * across
      components[index].storedDown = mcusDown * down
    }
  }

  /// The side of a component's blocks at a scale. Subsampled chroma has a larger side than luma, so that it is not
  /// coarser in either direction.
  func side(of component: JPEGComponent, at scale: JPEGScale) -> BlockSide {
    let side = scale.side(subsampling: max(mostAcross / component.across, mostDown / component.down))
    let isLuma = component.identifier == components[0].identifier
    return halvesChroma && scale == .full && !isLuma ? .four : side
  }

  /// The number of blocks of all components.
  var blockCount: Int { components.reduce(0) { $0 + $1.blocksAcross * $1.blocksDown } }

  /// Divides, rounding up.
  private static func quotient(_ a: Int, _ b: Int) -> Int { (a + b - 1) / b }
}

/// A scan header (SOS), which names the coefficients that follow.
struct JPEGScan: Sendable, Equatable {
  /// The identifiers of its components, in header order.
  var components: [UInt8]
  /// The first and last zigzag position (Ss, Se): 0 and 63 in a sequential file.
  var positions: ClosedRange<Int>
  /// The bit position of the scan that this one refines; 0 for a first scan (Ah).
  var previousBit = 0
  /// The bit position that this scan is exact to (Al).
  var bit = 0

  /// Parses a scan header: the bytes after the segment's length.
  ///
  /// Nil if it is invalid: no components or more than four, a length that does not match, a reversed range.
  init?(_ bytes: SegmentBytes) {
    guard let count = bytes[0], (1...4).contains(count), bytes.count == 4 + 2 * count,
      let first = bytes[1 + 2 * count], let last = bytes[2 + 2 * count], let bits = bytes[3 + 2 * count],
      first <= last, last <= 63
    else { return nil }
    components = (0..<count).compactMap { bytes[1 + 2 * $0].map { UInt8($0) } }
    positions = first...last
    (previousBit, bit) = (bits >> 4, bits & 15)
  }

  init(components: [UInt8], positions: ClosedRange<Int>, previousBit: Int = 0, bit: Int = 0) {
    self.components = components
    self.positions = positions
    self.previousBit = previousBit
    self.bit = bit
  }
}
