import CVips
import ThumbnailCore

/// The metadata of a source image that its thumbnails keep, read from its header.
package struct KeptMetadata: Sendable, Equatable {
  /// An EXIF field by libvips' name.
  package struct Field: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  /// The longest profile that is kept, in bytes: those of printers have about one million.
  package static let longestProfile = 4 << 20

  /// The ICC profile.
  package private(set) var profile: [UInt8]?
  package private(set) var fields: [Field] = []

  private static let copyrightFields = ["exif-ifd0-Copyright", "exif-ifd0-Artist"]

  /// Reads what the policy keeps from an opened image. Nil if the policy keeps nothing.
  init?(_ policy: MetadataPolicy, of image: LibvipsImage) {
    switch policy {
    case .none: return nil
    // Floating-point samples are always converted, whatever the profile.
    case .profile:
      if !image.isFloatingPoint, let found = image.profile, found.count <= Self.longestProfile { profile = found }
    case .copyright:
      for name in Self.copyrightFields {
        var value: UnsafePointer<CChar>?
        guard vips_image_get_typeof(image.pointer, name) != 0,
          vips_image_get_string(image.pointer, name, &value) == 0, let value
        else { continue }
        fields.append(Field(name: name, value: String(cString: value)))
      }
    }
  }

  /// What another process has read.
  package init(profile: [UInt8]?, fields: [Field]) { (self.profile, self.fields) = (profile, fields) }

  /// The profile if it fits the pixels: not a CMYK one.
  func profile(fitting raster: Raster) -> [UInt8]? {
    profile.flatMap { HeaderBytes($0).has(raster.bands < 3 ? "GRAY" : "RGB ", at: 16) ? $0 : nil }
  }

  /// The image with this metadata. A profile that does not fit the pixels is left out.
  func attached(to image: LibvipsImage) throws(CodecError) -> LibvipsImage {
    // A copy, since the image may be shared.
    let copy = try image.copied()
    vips_image_remove(copy.pointer, VIPS_META_ICC_NAME)
    if let profile, HeaderBytes(profile).has(image.bands < 3 ? "GRAY" : "RGB ", at: 16) {
      vips_image_set_blob_copy(copy.pointer, VIPS_META_ICC_NAME, profile, profile.count)
    }
    for field in fields { vips_image_set_string(copy.pointer, field.name, field.value) }
    return copy
  }
}
