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

  /// The fields that `.copyright` keeps, and their tags.
  private static let copyrightFields = ["exif-ifd0-Artist", "exif-ifd0-Copyright"]
  private static let tags: [UInt16] = [0x013B, 0x8298]
  /// The longest value of a field that is kept, in bytes: a segment of a JPEG holds 32 of them.
  private static let longestValue = 2000

  /// Reads the metadata that the policy keeps from an opened image. Nil if the policy keeps nothing.
  init?(_ policy: MetadataPolicy, of image: LibvipsImage) {
    let fields = Self.copyrightFields.compactMap { name -> Field? in
      var value: UnsafePointer<CChar>?
      guard policy == .copyright, vips_image_get_typeof(image.pointer, name) != 0,
        vips_image_get_string(image.pointer, name, &value) == 0, let value
      else { return nil }
      return Field(name: name, value: Self.text(String(cString: value)))
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
        guard let value = fields.first(where: { $0.name == name })?.value, value.utf8.count <= Self.longestValue else {
          return nil
        }
        let printable = value.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
        return Field(name: name, value: String(printable))
      }
    }
  }

  /// The text of an EXIF field, to which libvips adds " (the text again, ASCII, 5 components, 5 bytes)".
  static func text(_ value: String) -> String {
    let parts = value.split(separator: ", ")
    guard parts.count >= 3, parts[parts.count - 1].hasSuffix(" bytes)"), parts[parts.count - 3] == "ASCII",
      let count = parts[parts.count - 2].split(separator: " ").first.flatMap({ Int($0) })
    else { return value }
    // The components are bytes, with the 0 at the end of most texts.
    let bytes = Array(value.utf8)
    guard let length = [count - 1, count].first(where: { $0 >= 0 && bytes.dropFirst($0).starts(with: " (".utf8) })
    else {
      return value
    }
    return String(decoding: bytes.prefix(length), as: UTF8.self)
  }

  /// The fields as the contents of a JPEG's EXIF segment: a TIFF of one directory. Nil without fields.
  var exif: [UInt8]? {
    let texts = zip(Self.tags, Self.copyrightFields).compactMap { tag, name in
      fields.first { $0.name == name }.map { (tag, Array($0.value.utf8) + [0]) }
    }
    guard !texts.isEmpty else { return nil }
    func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
    var directory = bytes(UInt16(texts.count))
    var rest: [UInt8] = []
    for (tag, text) in texts {
      directory += bytes(tag) + bytes(UInt16(2)) + bytes(UInt32(text.count))
      // Up to four bytes stand in the entry itself.
      if text.count <= 4 {
        directory += text + [UInt8](repeating: 0, count: 4 - text.count)
      } else {
        directory += bytes(UInt32(8 + 2 + 12 * texts.count + 4 + rest.count))
        rest += text + [UInt8](repeating: 0, count: text.count % 2)
      }
    }
    return Array("Exif".utf8) + [0, 0] + Array("MM".utf8) + [0, 42, 0, 0, 0, 8] + directory + [0, 0, 0, 0] + rest
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
    // What libvips adds to a text when it reads one, it leaves out when it writes it.
    for field in fields { vips_image_set_string(copy.pointer, field.name, field.value + " ()") }
    return copy
  }
}
