/// Which of the small images that cameras embed in their files may stand for the image.
public enum PreviewUse: String, Sendable, Hashable, CaseIterable {
  /// None: every thumbnail is made from the image itself.
  case off
  /// The thumbnails in the containers of HEIC and AVIF that look like tiles spread over the image.
  case auto
  /// Also thumbnails that cannot be compared with the whole image, and the previews in the EXIF data of JPEGs.
  case on
}

/// Which small image in a file stands for the image in a thumbnail.
public enum UsedPreview: String, Sendable, Hashable, Codable, CaseIterable {
  /// The thumbnail of a HEIC or AVIF, which looks like at least eight tiles spread over the image.
  case checked
  /// A preview that was compared with the first rows of a JPEG only, or not at all: only with `PreviewUse.on`.
  case unchecked
  /// The JPEG that a camera has stored in its RAW file, without a comparison.
  case camera
}
