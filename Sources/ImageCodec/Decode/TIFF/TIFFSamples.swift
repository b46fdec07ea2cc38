/// Converts the stored samples of a TIFF's pixels to those of a row: 8 bits if they are stored so, else 16.
struct TIFFSamples {
  /// How a sample is stored, in the machine's byte order.
  enum Kind: Sendable, Equatable {
    case unsigned(bytes: Int)
    case signed(bytes: Int)
    case floatingPoint(bytes: Int)

    var bytes: Int {
      switch self {
      case .unsigned(let bytes), .signed(let bytes), .floatingPoint(let bytes): bytes
      }
    }
  }

  enum Alpha: Sendable, Equatable {
    case none, straight
    /// The colours have been multiplied by it.
    case premultiplied
  }

  let kind: Kind
  /// The stored samples of a pixel.
  let stored: Int
  /// The samples of a pixel in a row: colours and alpha.
  let channels: Int
  var alpha = Alpha.none
  /// Whether the first sample is inverted.
  var isMinWhite = false
  /// Whether the samples are inks; rows have 8 bits of them.
  var isInk = false
  /// The weights of luma, if the samples are luma and chroma.
  var weights: LumaWeights?
  /// For floating point: black and white of each channel.
  var ranges: [ClosedRange<Float>] = []

  /// 1 or 2.
  var rowSampleBytes: Int { isInk || kind.bytes == 1 ? 1 : 2 }
  /// Whether a row's bytes are the stored ones.
  var isIdentity: Bool {
    (kind == .unsigned(bytes: 1) || kind == .unsigned(bytes: 2) && !isInk) && stored == channels && !isMinWhite
      && !isInk && weights == nil && alpha != .premultiplied
  }
  /// Whether colours are linear light: floating-point RGB, as in other programs.
  var isLinear: Bool { if case .floatingPoint = kind { channels >= 3 && !isInk } else { false } }

  /// Whether black and white depend on all samples: for floating-point grays and alpha.
  var needsRanges: Bool { if case .floatingPoint = kind { !isLinear || alpha != .none } else { false } }

  /// Converts `count` pixels. `source` has as many, and `target` has room for them.
  func convert(_ source: UnsafeRawPointer, count: Int, into target: UnsafeMutableRawPointer) {
    for channel in 0..<channels {
      switch kind {
      case .unsigned(1): each(UInt8.self, channel, source, count, target) { UInt16($0) * 257 }
      case .unsigned(2): each(UInt16.self, channel, source, count, target) { $0 }
      case .unsigned: each(UInt32.self, channel, source, count, target) { UInt16($0 >> 16) }
      // Most programs show them as if they were unsigned. With more than 8 bits, values below zero are black.
      case .signed(1): each(UInt8.self, channel, source, count, target) { UInt16($0) * 257 }
      case .signed(2): each(Int16.self, channel, source, count, target) { UInt16(max(0, $0)) }
      case .signed: each(Int32.self, channel, source, count, target) { UInt16(max(0, $0) >> 16) }
      case .floatingPoint(2): floats(Float16.self, channel, source, count, target) { Float($0) }
      case .floatingPoint(4): floats(Float.self, channel, source, count, target) { $0 }
      case .floatingPoint: floats(Double.self, channel, source, count, target) { Float($0) }
      }
    }
    if rowSampleBytes == 1 {
      finish(target.assumingMemoryBound(to: UInt8.self), count)
    } else {
      finish(target.assumingMemoryBound(to: UInt16.self), count)
    }
  }

  private func finish<Sample: FixedWidthInteger & UnsignedInteger>(_ row: UnsafeMutablePointer<Sample>, _ count: Int) {
    if let weights { StoredColours.convertChroma(row, pixels: count, channels: channels, weights: weights) }
    if alpha == .premultiplied, !isLinear { StoredColours.unpremultiply(row, pixels: count, channels: channels) }
  }

  private func floats<Stored>(
    _ type: Stored.Type, _ channel: Int, _ source: UnsafeRawPointer, _ count: Int, _ target: UnsafeMutableRawPointer,
    _ value: (Stored) -> Float
  ) {
    let range = ranges.indices.contains(channel) ? ranges[channel] : 0...1
    let scale = 1 / (range.upperBound - range.lowerBound)
    let isEncoded = !isLinear || channel >= 3
    each(type, channel, source, count, target) { stored in
      let level = (value(stored) - range.lowerBound) * scale
      return isEncoded ? StoredColours.clipped(level * 65_535) : StoredColours.shown(level)
    }
    // Light is divided by alpha before it is encoded.
    guard isLinear, alpha == .premultiplied, channel < 3 else { return }
    let samples = source.assumingMemoryBound(to: type)
    let row = target.assumingMemoryBound(to: UInt16.self)
    let most = ranges.last?.upperBound ?? 1
    for index in 0..<count {
      let opacity = value(samples[index * stored + 3]) / most
      guard opacity > 0 else { continue }
      row[index * channels + channel] = StoredColours.shown(value(samples[index * stored + channel]) / opacity)
    }
  }

  private func each<Stored>(
    _ type: Stored.Type, _ channel: Int, _ source: UnsafeRawPointer, _ count: Int, _ target: UnsafeMutableRawPointer,
    _ level: (Stored) -> UInt16
  ) {
    // The memory begins at a multiple of 16 bytes, and rows are whole samples long.
    let samples = source.assumingMemoryBound(to: type)
    let flip: UInt16 = isMinWhite && channel == 0 ? .max : 0
    if rowSampleBytes == 1 {
      let row = target.assumingMemoryBound(to: UInt8.self)
      for index in 0..<count {
        row[index * channels + channel] = UInt8((level(samples[index * stored + channel]) ^ flip) >> 8)
      }
    } else {
      let row = target.assumingMemoryBound(to: UInt16.self)
      for index in 0..<count { row[index * channels + channel] = level(samples[index * stored + channel]) ^ flip }
    }
  }

  /// Extends the least and the greatest value of each channel by `count` pixels. Only finite values count.
  func extend(_ found: inout [(least: Float, greatest: Float)], _ source: UnsafeRawPointer, count: Int) {
    for channel in 0..<channels {
      for index in 0..<count {
        let place = (index * stored + channel) * kind.bytes
        let value: Float =
          switch kind.bytes {
          case 2: Float(source.loadUnaligned(fromByteOffset: place, as: Float16.self))
          case 4: source.loadUnaligned(fromByteOffset: place, as: Float.self)
          default: Float(source.loadUnaligned(fromByteOffset: place, as: Double.self))
          }
        guard value.isFinite else { continue }
        found[channel] = (min(found[channel].least, value), max(found[channel].greatest, value))
      }
    }
  }

  /// Black and white of floating-point samples with these least and greatest values.
  ///
  /// RGB is linear light; 1 is white. Grays of about 0 to 1 are linear light, too; grays of about 0 to 255 were made
  /// from 8 bits; other grays, such as heights and measurements, are shown from their least to their greatest value.
  /// Alpha is 0 to 1 or 0 to 255.
  func ranges(for found: [(least: Float, greatest: Float)]) -> [ClosedRange<Float>] {
    found.enumerated().map { channel, values in
      let isAlpha = alpha != .none && channel == channels - 1
      if isAlpha { return 0...(values.greatest > 2 ? 255 : 1) }
      if isLinear || values.least > values.greatest { return 0...1 }
      // Sharpening leaves values a little beyond both ends.
      if values.least >= -1, values.greatest <= 2 { return 0...1 }
      if values.least >= -256, values.greatest <= 512 { return 0...255 }
      return values.least...max(values.greatest, values.least.nextUp)
    }
  }
}
