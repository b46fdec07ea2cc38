import CDe265
import CLazyLibraries
import HEIFContainer
import ThumbnailCore

/// Decodes items of HEVC with libde265.
final class HEVCDecoder: ItemDecoder {
  /// The most calls until a picture is decoded: each decodes a unit.
  private static let mostSteps = 1 << 16

  private let context: UnsafeMutableRawPointer
  /// The largest picture for which a stream may request memory.
  private let most: PixelSize
  private var isUsed = false

  init(_ size: PixelSize, skipsFilters: Bool) throws(CodecError) {
    if let reason = clazy_load_de265() { throw .handedOver(reason: String(cString: reason)) }
    most = PixelSize(size.width + HEIFImage.padding, size.height + HEIFImage.padding)
    guard let context = cde265_open(skipsFilters ? 1 : 0) else { throw .outOfMemory }
    self.context = context
  }

  deinit { de265_free_decoder(context) }

  func decode(_ item: HEIFItem, of file: HEIFFile) throws(CodecError) -> CodedPlanes {
    guard let configuration = item.hevc else { throw .damaged(.header, detail: "no configuration of HEVC") }
    if isUsed { de265_reset(context) }
    isUsed = true
    for set in configuration.parameterSets {
      try checkSize(set)
      try check(set.withUnsafeBytes { de265_push_NAL(context, $0.baseAddress, Int32($0.count), 0, nil) })
    }
    var bytes: [UInt8] = []
    try file.copy(item) { count in
      bytes = [UInt8](repeating: 0, count: count)
      return bytes.withUnsafeMutableBytes { $0 }
    }
    try push(bytes, configuration)
    return try picture()
  }

  private func push(_ bytes: [UInt8], _ configuration: HEVCConfiguration) throws(CodecError) {
    let pushed: Result<de265_error, CodecError> = bytes.withUnsafeBytes { bytes in
      Result { () throws(CodecError) in
        for unit in try configuration.units(in: bytes) {
          let unit = UnsafeRawBufferPointer(rebasing: bytes[unit])
          try checkSize(unit)
          let status = de265_push_NAL(context, unit.baseAddress, Int32(clamping: unit.count), 0, nil)
          if status != DE265_OK { return status }
        }
        return de265_flush_data(context)
      }
    }
    try check(try pushed.get())
  }

  /// Refuses a sequence of pictures larger than the item: libde265 would allocate them.
  private func checkSize(_ unit: some Collection<UInt8>) throws(CodecError) {
    guard let sequence = try HEVCSequence(unit: unit) else { return }
    guard sequence.size.width <= most.width, sequence.size.height <= most.height else {
      throw .damaged(.header, detail: "the stream's size is \(sequence.size.width)x\(sequence.size.height)")
    }
  }

  /// Decodes until there is a picture.
  private func picture() throws(CodecError) -> CodedPlanes {
    for _ in 0..<Self.mostSteps {
      var more: Int32 = 0
      let status = de265_decode(context, &more)
      if let image = de265_peek_next_picture(context) { return try planes(of: image) }
      if status != DE265_OK && status != DE265_ERROR_WAITING_FOR_INPUT_DATA { try check(status) }
      if more == 0 { break }
    }
    throw .damaged(.decode, detail: "libde265 finds no picture")
  }

  private func planes(of image: OpaquePointer) throws(CodecError) -> CodedPlanes {
    let chroma: ChromaFormat =
      switch de265_get_chroma_format(image) {
      case de265_chroma_mono: .none
      case de265_chroma_420: .s420
      case de265_chroma_422: .s422
      default: .s444
      }
    var planes: [CodedPlanes.Plane] = []
    let bits = de265_get_bits_per_pixel(image, 0)
    for channel in 0..<(chroma == .none ? 1 : 3) as Range<Int32> {
      var stride: Int32 = 0
      guard let start = de265_get_image_plane(image, channel, &stride),
        de265_get_bits_per_pixel(image, channel) == bits
      else { throw .handedOver(reason: "planes of different depths") }
      let size = PixelSize(
        Int(de265_get_image_width(image, channel)), Int(de265_get_image_height(image, channel)))
      planes.append(CodedPlanes.Plane(start: UnsafeRawPointer(start), stride: Int(stride), size: size))
    }
    let colour = CodedColour(
      primaries: Int(de265_get_image_colour_primaries(image)),
      transfer: Int(de265_get_image_transfer_characteristics(image)),
      matrix: Int(de265_get_image_matrix_coefficients(image)),
      isFullRange: de265_get_image_full_range_flag(image) != 0)
    return CodedPlanes(planes: planes, bits: Int(bits), chroma: chroma, colour: colour)
  }

  private func check(_ status: de265_error) throws(CodecError) {
    if status == DE265_OK { return }
    if status == DE265_ERROR_OUT_OF_MEMORY { throw .outOfMemory }
    throw .damaged(.decode, detail: "libde265: \(String(cString: de265_get_error_text(status)))")
  }
}
