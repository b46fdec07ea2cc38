import DecodeSandbox
import ImageCodec
import ThumbnailCore

/// Tests whether a format can be read or written on this machine by doing so with a tiny image: that libvips has the
/// operation does not mean that the library behind it works.
///
/// Blocks; to be called on a thread of a pool that calls `Codec.threadWillEnd()`.
enum FormatTrial {
  /// Why a format cannot be read in this process; nil if it can.
  static func reading(_ format: ImageFormat) -> CodecError? {
    do throws(CodecError) {
      let raster = try Raster(reading: FormatSample.bytes(of: format), within: box)
      return raster.size.longerSide == box.width ? nil : .damaged(.decode, detail: "it came out as \(raster.size)")
    } catch {
      return error
    }
  }

  /// Why a helper cannot read a format; nil if it can.
  static func reading(_ format: ImageFormat, in helpers: HelperPool) -> CodecError? {
    let variant = Variant(size: box, format: .jpeg)
    let result = helpers.render(
      .memory(FormatSample.bytes(of: format)), HelperJob(format, [variant], limits: DecodeLimits()),
      cancellation: CancellationFlag()
    ).results.first?.result
    if case .failure(let error) = result { return error }
    return nil
  }

  /// Why a format cannot be written; nil if it can.
  static func writing(_ format: ImageFormat) -> CodecError? {
    do throws(CodecError) {
      let raster = try Raster(size: box, bands: 3) { samples throws(CodecError) in
        for index in samples.indices { samples[index] = UInt8(truncatingIfNeeded: index * 5) }
      }
      let output = OutputFormat(rawValue: format.rawValue) ?? .same
      let data = try Encoder.encode(raster, for: Variant(size: box, format: output), source: format).data
      return data.isEmpty ? .damaged(.encode, detail: "nothing came out") : nil
    } catch {
      return error
    }
  }

  private static let box = PixelSize(4, 4)
}
