import CWebP
import ThumbnailCore

/// Decodes a still WebP with libwebp, which scales the rows as it decodes them.
///
/// Holds the file and the whole scaled image, which the first call of `read` decodes. libwebp's incremental decoder
/// takes the same memory, because it needs room for all rows too, and accepts damaged files that this one refuses.
final class WebPRowSource: RowSource {
  let layout: RowLayout
  private let file: WebPFile
  /// libwebp's options, and the image, which it allocates.
  private var config: WebPDecoderConfig
  private var isDecoded = false
  /// The next row of each plane.
  private var nextRows: [Int]

  /// - Parameters:
  ///   - size: The size to scale to, in pixels; at most the stored one.
  ///   - convertsColours: Whether luma and chroma become RGB.
  /// - Throws: `.handedOver` for an animation, `.damaged(.header, …)` if the file is not the probed one, `.truncated`,
  ///   `.unreadableBody`.
  init(
    _ body: ByteSource, probe: ImageProbe, size: PixelSize, convertsColours: Bool = false
  ) throws(CodecError) {
    let stored = probe.storedSize
    guard (1...stored.width).contains(size.width), (1...stored.height).contains(size.height) else {
      throw .invalidSize(size)
    }
    guard probe.frameCount == 1 else { throw .handedOver(reason: "an animation") }
    let file = try WebPFile(body)
    var features = WebPBitstreamFeatures()
    let status = WebPGetFeatures(file.bytes.baseAddress, file.bytes.count, &features)
    guard status == VP8_STATUS_OK else { throw Self.error(status, .header) }
    guard features.has_animation == 0 else { throw .handedOver(reason: "an animation") }
    let found = PixelSize(Int(features.width), Int(features.height))
    guard found == stored else {
      throw .damaged(.header, detail: "the header says \(stored), the decoder \(found)")
    }
    guard file.isWellFormed else { throw .damaged(.header, detail: "its chunks do not add up to its length") }
    config = WebPDecoderConfig()
    WebPInitDecoderConfig(&config)
    if size != stored {
      config.options.use_scaling = 1
      (config.options.scaled_width, config.options.scaled_height) = (Int32(size.width), Int32(size.height))
    }
    let hasAlpha = features.has_alpha != 0
    let keepsPlanes = features.format == 1 && !hasAlpha && !convertsColours
    config.output.colorspace = keepsPlanes ? MODE_YUV : hasAlpha ? MODE_RGBA : MODE_RGB
    self.file = file
    layout =
      keepsPlanes
      ? RowLayout(planes: Self.planes(size, of: stored), profile: file.profile)
      : RowLayout(size: size, channels: hasAlpha ? 4 : 3, profile: file.profile)
    nextRows = layout.planes.map { _ in 0 }
  }

  deinit { WebPFreeDecBuffer(&config.output) }

  /// The most bytes that reading a WebP takes: the file, the scaled image, and all pixels of a lossless image or alpha
  /// channel.
  static func peakBytes(of probe: ImageProbe, size: PixelSize, bodyLength: Int, isRGB: Bool = false) -> Int {
    let stored = probe.storedSize
    let pixels = Double(stored.pixelCount)
    let hasPixels = probe.isLossless || probe.hasAlpha == true
    let rows = stored.width * 100
    return bodyLength + (1 << 20) + rows + size.pixelCount * (hasPixels ? 4 : isRGB ? 3 : 2)
      + Int(probe.isLossless ? pixels * 4.2 : probe.hasAlpha == true ? pixels * 2.2 : 0)
  }

  /// Luma at the requested size, and chroma at half of it, rounded up.
  ///
  /// libwebp scales the stored chroma samples to all those of the scaled plane; the last of an odd number of stored ones
  /// covers half as much of the image as the others.
  private static func planes(_ size: PixelSize, of stored: PixelSize) -> [RowLayout.Plane] {
    let half = PixelSize((size.width + 1) / 2, (size.height + 1) / 2)
    func extent(_ half: Int, _ stored: Int) -> Double {
      Double(half) * (Double(stored) / 2) / Double((stored + 1) / 2)
    }
    let chroma = RowLayout.Plane(
      size: half, channels: 1,
      extent: PixelExtent(width: extent(half.width, stored.width), height: extent(half.height, stored.height)),
      upsampling: size == stored ? PixelSize(2, 2) : PixelSize(1, 1))
    let luma = RowLayout.Plane(
      size: size, channels: 1, extent: PixelExtent(width: Double(size.width), height: Double(size.height)))
    return [luma, chroma, chroma]
  }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    if !isDecoded {
      guard let image = file.image else { throw .damaged(.decode, detail: "no image in it") }
      let status = WebPDecode(image.baseAddress, image.count, &config)
      guard status == VP8_STATUS_OK else { throw Self.error(status, .decode) }
      isDecoded = true
    }
    guard let next = layout.nextPlane(after: nextRows) else { return false }
    let plane = layout.planes[next]
    let (start, stride, length) = memory(of: next)
    let rowBytes = plane.size.width * plane.channels
    let count = min(plane.size.height - nextRows[next], RowLayout.mostRows)
    // libwebp's own buffer has all rows of the plane: it was allocated for the size in `layout`.
    guard let start, stride >= rowBytes, (plane.size.height - 1) * stride + rowBytes <= length else {
      throw .damaged(.decode, detail: "libwebp's buffer of \(length) bytes is too small")
    }
    let first = start + nextRows[next] * stride
    if layout.colour == .ycc {
      let table = next == 0 ? FullRange.luma : FullRange.chroma
      for row in 0..<count { table.apply(to: first + row * stride, count: rowBytes) }
    }
    try receive(RowBand(plane: next, start: UnsafeRawPointer(first), stride: stride, count: count))
    nextRows[next] += count
    return true
  }

  /// libwebp's memory of a plane: its bytes, the bytes from a row to the next, and their number.
  private func memory(of plane: Int) -> (UnsafeMutablePointer<UInt8>?, stride: Int, length: Int) {
    if layout.colour == .interleaved {
      let buffer = config.output.u.RGBA
      return (buffer.rgba, Int(buffer.stride), buffer.size)
    }
    let buffer = config.output.u.YUVA
    switch plane {
    case 0: return (buffer.y, Int(buffer.y_stride), buffer.y_size)
    case 1: return (buffer.u, Int(buffer.u_stride), buffer.u_size)
    default: return (buffer.v, Int(buffer.v_stride), buffer.v_size)
    }
  }

  private static func error(_ status: VP8StatusCode, _ stage: CodecError.Stage) -> CodecError {
    switch status {
    // The file is as long as its container says.
    case VP8_STATUS_NOT_ENOUGH_DATA, VP8_STATUS_SUSPENDED: .damaged(stage, detail: "the coded data ends early")
    case VP8_STATUS_OUT_OF_MEMORY: .outOfMemory
    default: .damaged(stage, detail: "libwebp's status \(status.rawValue)")
    }
  }
}

/// Stretches the samples of BT.601's limited range, as in WebP, to JFIF's full range.
private struct FullRange {
  private let values: [UInt8]

  /// Black at 16 and white at 235.
  static let luma = FullRange(zero: 16, range: 219, to: 0)
  /// Grey at 128, and 112 to either side.
  static let chroma = FullRange(zero: 128, range: 224, to: 128)

  private init(zero: Double, range: Double, to target: Double) {
    values = (0..<256).map { UInt8(max(0, min(255, ((Double($0) - zero) * 255 / range + target).rounded()))) }
  }

  /// `samples` has at least `count`.
  func apply(to samples: UnsafeMutablePointer<UInt8>, count: Int) {
    values.withUnsafeBufferPointer { values in
      // There are 256 values, one for each sample.
      for index in 0..<count { samples[index] = values[Int(samples[index])] }
    }
  }
}
