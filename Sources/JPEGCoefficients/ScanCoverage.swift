/// Which of the coefficients that a scale needs the scans so far contain, and how exactly.
///
/// The reader uses it to know when it has enough, and the observer of a download to know when to stop.
struct ScanCoverage: Sendable, Equatable {
  private struct Component: Sendable, Equatable {
    var identifier: UInt8
    var tableSlot: Int
    /// The positions needed, and those seen, at least in their coarsest form.
    var wanted: UInt64
    var seen: UInt64 = 0
    /// The quantiser of the DC coefficient at the component's first scan.
    var quantiser: Int?
    /// The bit position that the DC coefficient is exact to.
    var bit = 0

    /// Whether the bits of the DC coefficient that are missing so far would show.
    var isCoarse: Bool { bit > 0 && abs(quantiser ?? 0) << bit > ScanCoverage.mostStep * 8 }
  }

  /// The largest step of a DC coefficient that is left as it is, in levels of its sample. A larger one is refined,
  /// though the bits for it come late in the file.
  private static let mostStep = 2

  private var components: [Component]

  init(_ frame: JPEGFrame, scale: JPEGScale) {
    components = frame.components.map { component in
      Component(
        identifier: component.identifier, tableSlot: component.tableSlot,
        wanted: frame.side(of: component, at: scale).positions)
    }
  }

  /// Adds a completed scan; `tables` are those that it used.
  mutating func add(_ scan: JPEGScan, tables: QuantiserTables) {
    for index in components.indices where scan.components.contains(components[index].identifier) {
      if components[index].quantiser == nil {
        components[index].quantiser = (try? tables.table(components[index].tableSlot)).map { Int($0[0]) } ?? 0
      }
      if scan.previousBit == 0 { components[index].seen |= Self.mask(scan) }
      if scan.positions.lowerBound == 0 { components[index].bit = scan.bit }
    }
  }

  /// Whether a scan brings what is needed.
  func needs(_ scan: JPEGScan) -> Bool {
    components.contains { component in
      guard scan.components.contains(component.identifier) else { return false }
      if scan.previousBit == 0 { return component.wanted & Self.mask(scan) != 0 }
      return scan.positions.lowerBound == 0 && component.isCoarse
    }
  }

  /// Whether a scan is none that can follow those before: it repeats coefficients, or refines others than there are.
  func contradicts(_ scan: JPEGScan) -> Bool {
    components.contains { component in
      guard scan.components.contains(component.identifier) else { return false }
      if scan.previousBit == 0 { return component.seen & Self.mask(scan) != 0 }
      return component.seen & 1 == 0 || component.bit != scan.previousBit
    }
  }

  private static func mask(_ scan: JPEGScan) -> UInt64 {
    (UInt64.max >> (63 - UInt64(scan.positions.upperBound))) & (UInt64.max << UInt64(scan.positions.lowerBound))
  }

  /// Whether all coefficients needed have been seen.
  var isComplete: Bool { components.allSatisfy { $0.seen & $0.wanted == $0.wanted } }

  /// Whether they have, as exactly as it shows.
  var isEnough: Bool { isComplete && components.allSatisfy { !$0.isCoarse } }
}
