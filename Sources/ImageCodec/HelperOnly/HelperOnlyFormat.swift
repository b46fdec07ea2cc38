import CVips
package import ThumbnailCore

/// The formats that only a helper decodes, with libvips' loaders for them.
package enum HelperOnlyFormat {
  /// Unblocks the unsafe libvips loaders that the helper needs; all others stay blocked.
  package static func unblockLoaders() {
    for name in ["Svg", "Pdf", "Jxl", "Jp2k", "Openexr", "Ppm", "Magick", "Rad"] {
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

  static let imageMagick = "magickload_buffer"

  static func loaderName(_ format: ImageFormat) -> String? {
    switch format {
    case .svg: "svgload_source"
    case .pdf: "pdfload_source"
    case .jpegXL: "jxlload_source"
    case .jpeg2000: "jp2kload_source"
    case .openEXR: "openexrload"
    case .pnm: "ppmload_source"
    case .bmp, .ico: imageMagick
    case .radiance: "radload_source"
    case .jpeg, .png, .webp, .gif, .tiff, .heif, .avif: nil
    }
  }
}

extension ImageFormat {
  /// Whether images of this format are decoded in the pipeline's process.
  package var isReadInProcess: Bool { Codec.loaderName(self) != nil }

  /// Whether the file has no pixels and is rendered at any size.
  package var isDrawing: Bool { self == .svg || self == .pdf }
}
