import CVips
import ThumbnailCore

/// What can be read of a picture that breaks off or is damaged further down.
extension PictureDecoder {
  /// The rows that are tried at a time: as many as libvips' decoders give at once.
  private static let step = 16

  /// Whether the rows up to the damage are read as strictly as ever, and the rest left out. libjpeg and the GIF decoder go
  /// on behind the damage by themselves; others would leave in the rows whatever memory held.
  var salvagesRows: Bool { plan.isTolerant && ![.jpeg, .gif].contains(plan.probe.format) }

  /// The picture with mid-grey in the place of the rows that cannot be read, in standard colours then.
  ///
  /// - Throws: What is wrong with the first rows, where not even they can be read.
  func salvaged(_ picture: VipsPicture) throws(CodecError) -> VipsPicture {
    let size = picture.size
    let rows = try readableRows()
    guard rows < size.height else { return picture }
    let good = try picture.cropped(to: PixelRectangle(x: 0, y: 0, size: PixelSize(size.width, rows)))
      .standardColours()
    let grey = (0..<good.bands).map { good.hasAlpha && $0 == good.bands - 1 ? 255.0 : 128.0 }
    return try good.applying { cvips_extend_down($0, $1, Int32(size.height), grey, Int32(grey.count)) }
  }

  /// How many rows from the top can be read, by reading them.
  private func readableRows() throws(CodecError) -> Int {
    let reader = BodyReader(body, cancellation: cancellation)
    let picture = try open(reader)
    guard let region = vips_region_new(picture.pointer) else { throw .damaged(.decode, detail: Codec.errorText()) }
    defer { g_object_unref(region) }
    let size = picture.size
    for top in stride(from: 0, to: size.height, by: Self.step) {
      if cancellation.isSet { throw .cancelled }
      var part = VipsRect(
        left: 0, top: Int32(top), width: Int32(size.width), height: Int32(min(Self.step, size.height - top)))
      if vips_region_prepare(region, &part) == 0 { continue }
      let failure = CodecError.damaged(.decode, detail: Codec.errorText())
      if top == 0 { throw explain(failure, reader) }
      return top
    }
    return size.height
  }
}
