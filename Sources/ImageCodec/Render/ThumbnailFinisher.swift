import FoundationEssentials
package import ThumbnailCore

/// Makes thumbnails from their pixels, by a program's own step and an encoder.
package struct ThumbnailFinisher: Sendable {
  private let source: SourceDescription
  /// The program's own steps. A variant names one of them.
  private let processors: [ThumbnailProcessor]
  /// Whether each thumbnail gets a placeholder.
  private let makesPlaceholders: Bool

  package init(
    source: SourceDescription, processors: [ThumbnailProcessor] = [], makesPlaceholders: Bool = true
  ) {
    (self.source, self.processors, self.makesPlaceholders) = (source, processors, makesPlaceholders)
  }

  /// The thumbnails of the rendered pixels, each with its time.
  package func finish(
    _ rendered: [Rendered<ThumbnailRaster>], cancellation: CancellationFlag
  ) -> [RenderedVariant] {
    rendered.map { rendered in
      let started = ContinuousClock.now
      let shortages = Codec.memoryShortages
      let result = rendered.result.flatMap { pixels in
        Result { () throws(CodecError) in
          if cancellation.isSet { throw .cancelled }
          let thumbnail = try thumbnail(of: pixels)
          try Codec.checkMemory(since: shortages)
          return thumbnail
        }
      }
      return RenderedVariant(variant: rendered.variant, result: result, encoding: .now - started)
    }
  }

  /// Enlarges the pixels, if that was requested, processes and encodes them.
  private func thumbnail(of pixels: ThumbnailRaster) throws(CodecError) -> Thumbnail {
    let (size, variant) = (pixels.size, pixels.variant)
    var final = pixels.raster
    if pixels.timing == nil, final.size != size {
      let small = final
      final = try Raster(computing: try small.image().resized(to: size))
      withExtendedLifetime(small) {}
    }
    if let name = variant.processor {
      guard let processor = processors.first(where: { $0.identifier == name }) else {
        throw .processorUnavailable(name)
      }
      final = try final.processed(by: processor, frame: size)
    }
    let (data, format) = try Encoder.encode(
      final, for: variant, source: source.format, kept: pixels.kept, timing: pixels.timing)
    // An animation's frames are one raster; it has no placeholder.
    let placeholder = makesPlaceholders && pixels.timing == nil ? Placeholder(final) : nil
    return Thumbnail(
      data: data, size: size, format: format, source: source, isDamaged: pixels.isDamaged, placeholder: placeholder)
  }
}
