import ThumbnailCore

extension Raster {
  /// The image rotated upright; itself if it is upright already.
  ///
  /// - Throws: `.outOfMemory`.
  func upright(_ orientation: Orientation) throws(CodecError) -> Raster {
    guard orientation.exif != 1 else { return self }
    let (width, height) = (size.width, size.height)
    // The index of the upright image's first pixel, and the offsets from a pixel to its right and lower neighbours.
    let (origin, right, below) =
      switch orientation.exif {
      case 2: (width - 1, -1, width)
      case 3: (width * height - 1, -1, -width)
      case 4: (width * (height - 1), 1, -width)
      case 5: (0, width, 1)
      case 6: (width * (height - 1), -width, 1)
      case 7: (width * height - 1, -width, -1)
      case 8: (width - 1, width, -1)
      default: (0, 1, width)
      }
    let upright = orientation.upright(size)
    return try Raster(size: upright, bands: bands, profile: profile) { output throws(CodecError) in
      try withBytes { input throws(CodecError) in
        for y in 0..<upright.height {
          var source = (origin + y * below) * bands
          var target = y * upright.width * bands
          for _ in 0..<upright.width {
            for band in 0..<bands { output[target + band] = input[source + band] }
            source += right * bands
            target += bands
          }
        }
      }
    }.of(space)
  }
}
