/// Which of the small images that cameras embed in their files may stand for the image.
public enum PreviewUse: String, Sendable, Hashable, CaseIterable {
  /// None: every thumbnail is made from the image itself.
  case off
  /// The thumbnails in the containers of HEIC and AVIF, which are written with the image.
  case auto
  /// These, and the previews in the EXIF data of JPEGs.
  case on
}
