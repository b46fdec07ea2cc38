import CVips
package import ThumbnailCore

/// The metadata of a source image that its thumbnails keep, read from its header.
package struct KeptMetadata: Sendable, Equatable {
  /// The ICC profile.
  package let profile: [UInt8]?

  /// Reads the metadata that the policy keeps from an opened image. Nil if the policy keeps nothing.
  init?(_ policy: MetadataPolicy, of image: LibvipsImage) {
    // Floating-point samples are always converted, whatever the profile.
    self.init(policy, profile: image.isFloatingPoint ? nil : image.profile)
  }

  /// The metadata that the policy keeps, from the response of a helper. Nil if the policy keeps nothing. Invalid profiles
  /// are left out.
  package init?(_ policy: MetadataPolicy, profile: [UInt8]?) {
    guard policy == .profile else { return nil }
    self.profile = profile.flatMap { ICCProfile($0)?.isSound == true ? $0 : nil }
  }

  /// The profile if it fits the pixels, of so many channels: not a CMYK one.
  func profile(fitting bands: Int) -> [UInt8]? { ICCProfile.fitting(profile, colours: bands < 3 ? 1 : 3) }

  /// The image with this metadata. A profile that does not fit the pixels is left out.
  func attached(to image: LibvipsImage) throws(CodecError) -> LibvipsImage {
    // A copy, because the image may be shared.
    let copy = try image.copied()
    vips_image_remove(copy.pointer, VIPS_META_ICC_NAME)
    if let profile = profile(fitting: image.bands) {
      vips_image_set_blob_copy(copy.pointer, VIPS_META_ICC_NAME, profile, profile.count)
    }
    return copy
  }
}
