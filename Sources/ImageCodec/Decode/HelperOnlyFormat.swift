import CVips
package import ThumbnailCore

/// The formats that only a helper decodes, because libvips' loaders for them are unsafe for untrusted bytes.
package enum HelperOnlyFormat {
  /// Unblocks the unsafe libvips loaders that the helper needs; all others stay blocked.
  package static func unblockLoaders() {
    for name in ["Svg", "Pdf", "Jxl", "Openexr", "Magick", "Rad"] {
      vips_operation_block_set("VipsForeignLoad\(name)", 0)
    }
  }

  /// The format to try in a helper after the pipeline's own parser has refused the bytes with `refusal`; nil if that is
  /// final.
  ///
  /// An SVG may be compressed with gzip, which only shows when it is decompressed: the helper finds out.
  package static func candidate(after refusal: CodecError) -> ImageFormat? {
    switch refusal {
    case .unsupportedFormat(let format): format
    case .notAPicture(Sniffer.gzip): .svg
    default: nil
    }
  }
}
