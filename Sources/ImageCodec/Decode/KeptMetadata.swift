import CVips
package import ThumbnailCore

/// The metadata of a source image that its thumbnails keep, read from its header.
package struct KeptMetadata: Sendable, Equatable {
  /// An EXIF field by libvips' name.
  package struct Field: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  /// The ICC profile.
  package private(set) var profile: [UInt8]?
  package private(set) var fields: [Field] = []

  /// The fields that `.copyright` keeps.
  private static let copyrightFields = ["exif-ifd0-Copyright", "exif-ifd0-Artist"]
  /// The longest value of a field that is kept, in characters.
  private static let longestValue = 2000

  /// Reads the metadata that the policy keeps from an opened image. Nil if the policy keeps nothing.
  init?(_ policy: MetadataPolicy, of image: LibvipsImage) {
    let fields = Self.copyrightFields.compactMap { name -> Field? in
      var value: UnsafePointer<CChar>?
      guard policy == .copyright, vips_image_get_typeof(image.pointer, name) != 0,
        vips_image_get_string(image.pointer, name, &value) == 0, let value
      else { return nil }
      return Field(name: name, value: String(cString: value))
    }
    // Floating-point samples are always converted, whatever the profile.
    self.init(policy, profile: policy == .profile && !image.isFloatingPoint ? image.profile : nil, fields: fields)
  }

  /// The metadata that the policy keeps, from the response of a helper. Nil if the policy keeps nothing.
  ///
  /// Invalid profiles, unknown fields and long fields are left out, and control characters become spaces.
  package init?(_ policy: MetadataPolicy, profile: [UInt8]?, fields: [Field]) {
    switch policy {
    case .none: return nil
    case .profile: if let profile, ICCProfile(profile)?.isSound == true { self.profile = profile }
    case .copyright:
      self.fields = Self.copyrightFields.compactMap { name in
        guard let value = fields.first(where: { $0.name == name })?.value, value.count <= Self.longestValue else {
          return nil
        }
        let printable = value.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
        return Field(name: name, value: String(printable))
      }
    }
  }

  /// The profile if it fits the pixels: not a CMYK one.
  func profile(fitting raster: Raster) -> [UInt8]? {
    profile.flatMap { HeaderBytes($0).has(raster.bands < 3 ? "GRAY" : "RGB ", at: 16) ? $0 : nil }
  }

  /// The image with this metadata. A profile that does not fit the pixels is left out.
  func attached(to image: LibvipsImage) throws(CodecError) -> LibvipsImage {
    // A copy, because the image may be shared.
    let copy = try image.copied()
    vips_image_remove(copy.pointer, VIPS_META_ICC_NAME)
    if let profile, HeaderBytes(profile).has(image.bands < 3 ? "GRAY" : "RGB ", at: 16) {
      vips_image_set_blob_copy(copy.pointer, VIPS_META_ICC_NAME, profile, profile.count)
    }
    for field in fields { vips_image_set_string(copy.pointer, field.name, field.value) }
    return copy
  }
}
