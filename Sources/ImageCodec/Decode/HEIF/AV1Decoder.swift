import CDav1d
import CLazyLibraries
import HEIFContainer
import ThumbnailCore

/// Decodes items of AV1 with dav1d.
final class AV1Decoder: ItemDecoder {
  private let context: OpaquePointer
  /// The picture that was delivered last.
  private var picture = Dav1dPicture()
  private var isUsed = false

  init(_ size: PixelSize, skipsFilters: Bool) throws(CodecError) {
    if let reason = clazy_load_dav1d() { throw .handedOver(reason: String(cString: reason)) }
    let most = PixelSize(size.width + HEIFImage.padding, size.height + HEIFImage.padding).pixelCount
    guard let context = cdav1d_open(UInt32(clamping: most), skipsFilters ? 1 : 0) else { throw .outOfMemory }
    self.context = context
  }

  deinit {
    dav1d_picture_unref(&picture)
    var context: OpaquePointer? = context
    dav1d_close(&context)
  }

  func decode(_ item: HEIFItem, of file: HEIFFile) throws(CodecError) -> CodedPlanes {
    dav1d_picture_unref(&picture)
    picture = Dav1dPicture()
    if isUsed { dav1d_flush(context) }
    isUsed = true
    var data = Dav1dData()
    defer { dav1d_data_unref(&data) }
    try file.copy(item) { count throws(CodecError) in
      guard count > 0 else { throw .damaged(.decode, detail: "an item without bytes") }
      guard let start = dav1d_data_create(&data, count) else { throw .outOfMemory }
      return UnsafeMutableRawBufferPointer(start: start, count: count)
    }
    while data.sz > 0 {
      let sent = dav1d_send_data(context, &data)
      if sent < 0 && sent != cdav1d_again() { throw failure(sent) }
      let status = dav1d_get_picture(context, &picture)
      if status == 0 { return try planes() }
      if status != cdav1d_again() { throw failure(status) }
    }
    // With one thread everything is decoded when the data has been sent; a second call returns a delayed picture.
    let status = dav1d_get_picture(context, &picture)
    guard status == 0 else { throw failure(status) }
    return try planes()
  }

  private func planes() throws(CodecError) -> CodedPlanes {
    let (chroma, shift): (ChromaFormat, (Int, Int)) =
      switch picture.p.layout {
      case DAV1D_PIXEL_LAYOUT_I400: (.none, (0, 0))
      case DAV1D_PIXEL_LAYOUT_I420: (.s420, (1, 1))
      case DAV1D_PIXEL_LAYOUT_I422: (.s422, (1, 0))
      default: (.s444, (0, 0))
      }
    let size = PixelSize(Int(picture.p.w), Int(picture.p.h))
    let half = PixelSize((size.width + shift.0) >> shift.0, (size.height + shift.1) >> shift.1)
    var planes: [CodedPlanes.Plane] = []
    let starts = [picture.data.0, picture.data.1, picture.data.2]
    for channel in 0..<(chroma == .none ? 1 : 3) {
      guard let start = starts[channel] else { throw .damaged(.decode, detail: "dav1d delivers no samples") }
      planes.append(
        CodedPlanes.Plane(
          start: UnsafeRawPointer(start), stride: channel == 0 ? picture.stride.0 : picture.stride.1,
          size: channel == 0 ? size : half))
    }
    var colour = CodedColour(primaries: 2, transfer: 2, matrix: 2, isFullRange: false)
    if let header = picture.seq_hdr {
      colour = CodedColour(
        primaries: Int(header.pointee.pri.rawValue), transfer: Int(header.pointee.trc.rawValue),
        matrix: Int(header.pointee.mtrx.rawValue), isFullRange: header.pointee.color_range != 0)
    }
    return CodedPlanes(planes: planes, bits: Int(picture.p.bpc), chroma: chroma, colour: colour)
  }

  private func failure(_ status: Int32) -> CodecError {
    if status == cdav1d_no_memory() { return .outOfMemory }
    if status == cdav1d_again() { return .damaged(.decode, detail: "dav1d finds no picture") }
    return .damaged(.decode, detail: "dav1d's status \(status)")
  }
}
