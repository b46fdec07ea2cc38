import CVips
import ThumbnailCore

/// What of a picture's metadata its thumbnails keep, read from its header.
struct KeptMetadata: Sendable {
  /// The ICC profile.
  var profile: [UInt8]?
  /// EXIF fields by libvips' names for them.
  var fields: [(name: String, value: String)] = []

  private static let copyrightFields = ["exif-ifd0-Copyright", "exif-ifd0-Artist"]

  /// Takes what a policy keeps out of a picture that was opened. Nil where the policy keeps nothing.
  init?(_ policy: MetadataPolicy, of picture: VipsPicture) {
    switch policy {
    case .none: return nil
    // Floating-point samples are not kept as they are, whatever the profile says of them.
    case .profile: profile = picture.isFloatingPoint ? nil : picture.profile
    case .copyright:
      for name in Self.copyrightFields {
        var value: UnsafePointer<CChar>?
        guard vips_image_get_typeof(picture.pointer, name) != 0,
          vips_image_get_string(picture.pointer, name, &value) == 0, let value
        else { continue }
        fields.append((name, String(cString: value)))
      }
    }
  }

  /// The picture with it. A profile that does not fit the pixels, such as a CMYK picture's, is left out.
  func attached(to picture: VipsPicture) throws(CodecError) -> VipsPicture {
    // A copy: the picture may be one that others use, too.
    let copy = try picture.applying { cvips_copy($0, $1) }
    vips_image_remove(copy.pointer, VIPS_META_ICC_NAME)
    if let profile, HeaderBytes(profile).has(picture.bands < 3 ? "GRAY" : "RGB ", at: 16) {
      vips_image_set_blob_copy(copy.pointer, VIPS_META_ICC_NAME, profile, profile.count)
    }
    for (name, value) in fields { vips_image_set_string(copy.pointer, name, value) }
    return copy
  }
}
