import HEIFContainer
import ThumbnailCore

/// The channels of a JPEG 2000, in the order of a row's samples, and their colours.
struct JPEG2000Channels {
  enum Colours {
    case gray, rgb, ycc, cmyk

    var count: Int {
      switch self {
      case .gray: 1
      case .rgb, .ycc: 3
      case .cmyk: 4
      }
    }
  }

  let colours: Colours
  /// How each channel's samples are made: the colours, and then alpha if there is any.
  let scales: [Scale]
  let hasAlpha: Bool
  /// Whether the colours have been multiplied by alpha.
  let isPremultiplied: Bool
  let profile: [UInt8]?
  /// Whether a row has samples of 16 bits.
  let isDeep: Bool

  /// - Parameter file: The boxes of a JP2 file; nil for a bare codestream.
  init(_ file: JP2File?, _ components: [JPEG2000Decoder.Component]) throws(CodecError) {
    let channels =
      file.flatMap { $0.palette == nil ? nil : $0.channels } ?? components.indices.map { .init(component: $0) }
    guard channels.allSatisfy({ $0.component < components.count }), !channels.isEmpty else {
      throw .damaged(.header, detail: "a palette for a component that is missing")
    }
    let definitions = file?.definitions ?? []
    let opacity = definitions.first { [1, 2].contains($0.kind) && $0.channel < channels.count }
    let colourCount = channels.count - (opacity == nil ? 0 : 1)
    let colours = try Self.colours(file, components, count: colourCount)
    var order = Array(channels.indices.filter { $0 != opacity?.channel }.prefix(colours.count))
    for definition in definitions where definition.kind == 0 && channels.indices.contains(definition.channel) {
      let place = definition.association - 1
      if order.indices.contains(place) { order[place] = definition.channel }
    }
    guard order.count == colours.count else {
      throw .damaged(.header, detail: "\(channels.count) components for \(colours.count) colours")
    }
    // In a file that does not define it, one channel more than colours is alpha, as in other readers.
    let alpha = opacity?.channel ?? (definitions.isEmpty && channels.count == colours.count + 1 ? colours.count : nil)
    (self.colours, hasAlpha, isPremultiplied) = (
      colours, alpha != nil && colours != .cmyk, opacity?.kind == 2 && colours != .cmyk
    )
    let sources = (order + (hasAlpha ? [alpha].compactMap { $0 } : [])).map { channels[$0] }
    profile = file?.profile
    let bits = sources.map { source in
      source.column.flatMap { file?.palette?.bits[$0] } ?? components[source.component].bits
    }
    let isDeep = bits.contains { $0 > 8 } && colours != .cmyk
    self.isDeep = isDeep
    scales = sources.map { source in
      Scale(
        source, components[source.component], file?.palette, most: isDeep ? 65_535 : 255)
    }
  }

  private static func colours(
    _ file: JP2File?, _ components: [JPEG2000Decoder.Component], count: Int
  ) throws(CodecError) -> Colours {
    switch file?.colourSpace {
    case 16?: return count < 3 ? .gray : .rgb
    case 17?: return .gray
    case 18?: return count < 3 ? .gray : .ycc
    case 12?: return .cmyk
    case let space?: throw .unsupported("JPEG 2000 in the colour space \(space)")
    case nil: break
    }
    if let profile = file?.profile, let named = ICCProfile.colourCount(profile), named <= count {
      return named == 1 ? .gray : named == 4 ? .cmyk : .rgb
    }
    guard count >= 3 else { return .gray }
    // Chroma has fewer samples, colours have not.
    let isSubsampled =
      components.count >= 3 && components[0].across == 1 && components[0].down == 1
      && components[1...2].allSatisfy { $0.across > 1 || $0.down > 1 }
    return isSubsampled ? .ycc : .rgb
  }

  /// The samples of a pixel in a row.
  var count: Int { scales.count }

  /// The values of a channel for each sample of its component.
  struct Scale {
    let component: Int
    private let values: [UInt16]
    private let offset: Int
    private let shift: Int

    /// Values of 0 to `most`, through the palette if the source names a column of it.
    init(
      _ source: JP2File.Source, _ component: JPEG2000Decoder.Component, _ palette: JP2File.Palette?, most: Int
    ) {
      self.component = source.component
      let stored: (values: [Int], bits: Int)
      if let palette, let column = source.column {
        stored = (palette.entries.map { $0[column] }, palette.bits[column])
        (offset, shift) = (0, 0)
      } else {
        let bits = min(max(1, component.bits), 16)
        stored = (Array(0..<1 << bits), bits)
        offset = component.isSigned ? 1 << (max(1, component.bits) - 1) : 0
        shift = max(0, component.bits - 16)
      }
      let greatest = 1 << stored.bits - 1
      values = stored.values.map { value in
        UInt16(truncatingIfNeeded: (value * most + greatest / 2) / greatest)
      }
    }

    func value(_ sample: Int32) -> UInt16 { values[min(max((Int(sample) + offset) >> shift, 0), values.count - 1)] }
  }
}
