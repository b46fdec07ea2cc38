import ThumbnailCore

extension Raster {
  /// Whether `resampled` supports it: opaque gray or RGB. libvips handles transparency, where colours must not bleed.
  var canBeResampled: Bool { bands == 1 || bands == 3 }

  /// The image at another size: Lanczos with three lobes, in the samples' own colour space, within one level of exact.
  ///
  /// - Parameters:
  ///   - size: The size of the whole resampled image, in pixels.
  ///   - extent: The part of this raster that the image covers, in pixels from the upper left corner: 750.125 across
  ///     where 6001 pixels were reduced by eight to 751. Nil: all of it.
  ///   - crop: The part of the new image to compute, pixel for pixel equal to that part of the whole. Nil: all of it.
  /// - Throws: `.damaged(.shrink, …)` for invalid sizes, other numbers of bands, or if there is no memory.
  func resampled(
    to size: PixelSize, extent: PixelExtent? = nil, crop: PixelRectangle? = nil
  ) throws(CodecError) -> Raster {
    let whole = PixelExtent(width: Double(self.size.width), height: Double(self.size.height))
    let extent = extent ?? whole
    let part = crop ?? PixelRectangle(x: 0, y: 0, size: size)
    guard canBeResampled, Resampler.canBear(self.size), Resampler.canBear(size), part.fits(into: size),
      extent.width > 0, extent.height > 0, extent.width <= whole.width, extent.height <= whole.height
    else { throw .damaged(.shrink, detail: "a raster of \(self.size) cannot become \(size)") }
    if size == self.size && extent == whole && part.size == size { return self }
    let resampler = Resampler(base: self.size, bands: bands, extent: extent, target: size, part: part)
    return try Raster(size: part.size, bands: bands, profile: profile) { output throws(CodecError) in
      try withBytes { input throws(CodecError) in resampler.run(input, into: output) }
    }
  }

  /// The image converted from its profile to sRGB or gray.
  func standardColours(keepingProfile: Bool = false) throws(CodecError) -> Raster {
    guard !keepingProfile, let profile, !(ICCProfile(profile)?.isSRGB ?? false) else { return self }
    defer { withExtendedLifetime(self) {} }
    return try Raster(computing: try image().standardColours())
  }
}

/// A width and height in fractional pixels.
struct PixelExtent: Sendable, Equatable {
  var width: Double
  var height: Double
}

extension PixelRectangle {
  /// Whether it is not empty and lies within an image of this size.
  func fits(into size: PixelSize) -> Bool {
    x >= 0 && y >= 0 && self.size.width > 0 && self.size.height > 0 && self.size.width <= size.width - x
      && self.size.height <= size.height - y
  }
}
