import CVips
package import ThumbnailCore

/// The formats that only a helper decodes, as libvips reads them.
package enum ForeignFormat {
  /// Lets libvips call the loaders that it does not trust and that the helper needs; all others stay blocked.
  package static func unblockLoaders() {
    for name in ["Svg", "Pdf", "Jxl", "Jp2k", "Openexr", "Ppm", "Magick", "Rad"] {
      vips_operation_block_set("VipsForeignLoad\(name)", 0)
    }
  }

  /// The format to be tried when a pipeline's own reader has refused the bytes with `refusal`; nil when that is final.
  ///
  /// An SVG may be compressed with gzip, which shows only when it is unpacked: the helper finds out.
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
  /// Whether pictures of this format are decoded in the pipeline's own process.
  package var isReadInProcess: Bool { Codec.loaderName(self) != nil }

  /// Whether there are no pixels in the file: it is drawn in whatever size is asked.
  package var isDrawing: Bool { self == .svg || self == .pdf }
}
