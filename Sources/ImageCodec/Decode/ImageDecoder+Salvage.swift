import CVips
import ThumbnailCore

/// Reads what can be read of a truncated or damaged image.
extension ImageDecoder {
  /// The number of rows tried at a time: the height of the strips that libvips' decoders output.
  private static let step = 16

  /// Whether only the rows before the damage are used, read strictly. libjpeg and the GIF decoder continue after damage
  /// by themselves; other decoders would leave uninitialised memory in the rows. Of an animation whole frames are dropped instead.
  var salvagesRows: Bool {
    plan.isTolerant && pass.reader != .frames && ![.jpeg, .gif].contains(plan.probe.format)
  }

  /// The image with unreadable rows filled with mid-grey, and then in standard colours.
  ///
  /// - Throws: The error of the first rows if not even they can be read.
  func salvaged(_ image: LibvipsImage) throws(CodecError) -> LibvipsImage {
    let size = image.size
    let rows = try readableRows()
    guard rows < size.height else { return image }
    let good = try image.cropped(to: PixelRectangle(x: 0, y: 0, size: PixelSize(size.width, rows)))
      .standardColours()
    let grey = (0..<good.bands).map { good.hasAlpha && $0 == good.bands - 1 ? 255.0 : 128.0 }
    return try good.applying { cvips_extend_down($0, $1, Int32(size.height), grey, Int32(grey.count)) }
  }

  /// The number of rows from the top that can be read, found by reading them.
  private func readableRows() throws(CodecError) -> Int {
    let reader = BodyReader(body, cancellation: cancellation)
    let image = try open(reader)
    guard let region = vips_region_new(image.pointer) else { throw .damaged(.decode, detail: Codec.errorText()) }
    defer { g_object_unref(region) }
    let size = image.size
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
