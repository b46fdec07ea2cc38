/// How a component is quantised: the steps of its coefficients, and when a coefficient becomes 0.
///
/// Scaled coefficients are in 32nds of their step. One becomes 0 if its magnitude does not exceed a threshold, which
/// rises with the frequency and, in textured surroundings, with the energy of the block: texture hides what is missing.
///
/// Safety: nothing is changed once it is made, so threads share it.
final class QuantiserTable: @unchecked Sendable {
  /// How luma or chroma is quantised.
  struct Shape {
    /// The steps in rows of frequencies.
    var steps: [Double]
    /// The least magnitude that is kept, in steps; what the highest frequency and most texture add.
    var least: Double, frequency: Double, texture: Double
    /// The energy of a block, in squared steps, at which half of `texture` is added.
    var energy: Double
  }

  /// The fraction bits of a scaled coefficient.
  static let fractionBits = 5
  /// The largest magnitude of a scaled coefficient that counts as energy, so that 64 squares fit in 32 bits.
  static let mostEnergetic: Int16 = 1023
  /// The raises of the threshold are looked up by the highest bits of the energy as a `Float`: its exponent and two bits
  /// more, from an energy of 1.
  static let energyShift: UInt32 = 21
  static let firstEnergy = 508

  // The offsets in the memory, in bytes.
  static let thresholds = 128
  static let raises = 256
  static let factors = 512
  /// The step of the DC coefficient, as an `Int32`.
  static let meanStep = 576

  /// The steps in zigzag order, as the file has them.
  let steps: [UInt8]
  /// By the frequency across, then down: 64 reciprocals of 16 bits, and as many thresholds. Then 128 raises of the
  /// thresholds, the factors of the transform, and the first step.
  let memory: UnsafeMutableRawPointer

  /// Makes the table for samples with one fraction bit. `scale` is the factor of the steps.
  init(_ shape: Shape, scale: Double) {
    memory = UnsafeMutableRawPointer.allocate(byteCount: 592, alignment: 16)
    let reciprocals = memory.assumingMemoryBound(to: UInt16.self)
    let thresholds = (memory + Self.thresholds).assumingMemoryBound(to: Int16.self)
    let raises = (memory + Self.raises).assumingMemoryBound(to: Int16.self)
    let factors = (memory + Self.factors).assumingMemoryBound(to: Int16.self)
    let unit = Double(1 << Self.fractionBits)
    var steps = [UInt8](repeating: 0, count: 64)
    for position in 0..<64 {
      let (across, down) = ZigzagOrder.frequencies[position]
      let factor = unit * 32768 / (ForwardTransform.gains[across] * ForwardTransform.gains[down])
      // Not finer than 16 bits of a reciprocal allow.
      let step = min(255, max(1, (scale * shape.steps[8 * down + across]).rounded(), (factor / 65536).rounded(.up)))
      let place = 8 * across + down
      steps[position] = UInt8(step)
      reciprocals[place] = UInt16(min(65535, (factor / step).rounded()))
      let least = shape.least + shape.frequency * Double(position) / 63
      // The DC coefficient is never made 0.
      thresholds[place] = position == 0 ? -20_000 : Int16((unit * least).rounded()) - 1
    }
    for index in 0..<128 {
      let bits = UInt32(index + Self.firstEnergy) << Self.energyShift
      let energy = Double(Float(bitPattern: bits)) / (unit * unit)
      raises[index] = Int16((unit * shape.texture * energy / (energy + shape.energy)).rounded())
    }
    for index in 0..<32 { factors[index] = ForwardTransform.factors[index / 8] }
    (memory + Self.meanStep).storeBytes(of: Int32(steps[0]), as: Int32.self)
    self.steps = steps
  }

  deinit { memory.deallocate() }
}
