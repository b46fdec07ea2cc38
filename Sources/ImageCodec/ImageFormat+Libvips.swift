import CVips
package import ThumbnailCore

/// The operations of libvips that read and write each format.
extension ImageFormat {
  /// Whether images of this format are decoded in the pipeline's process; the others are decoded only in a helper.
  package var isReadInProcess: Bool {
    switch self {
    case .jpeg, .png, .webp, .gif, .tiff, .heif, .avif, .raw: true
    case .svg, .pdf, .jpegXL, .jpeg2000, .openEXR, .pnm, .bmp, .ico, .radiance: false
    }
  }

  /// The name of the format's loader.
  var loaderName: String {
    switch self {
    // Reads a JPEG in a RAW file.
    case .jpeg, .raw: "jpegload_source"
    case .png: "pngload_source"
    case .webp: "webpload_source"
    case .gif: "gifload_source"
    case .tiff: "tiffload_source"
    case .heif, .avif: "heifload_source"
    case .svg: "svgload_source"
    case .pdf: "pdfload_source"
    case .jpegXL: "jxlload_source"
    case .jpeg2000: "jp2kload_source"
    case .openEXR: "openexrload"
    case .pnm: "ppmload_source"
    case .bmp, .ico: Self.imageMagickLoader
    case .radiance: "radload_source"
    }
  }

  static let imageMagickLoader = "magickload_buffer"

  /// The name of the format's saver; nil for formats that are not written.
  var saverName: String? {
    switch self {
    case .jpeg: "jpegsave_buffer"
    case .png: "pngsave_buffer"
    case .webp: "webpsave_buffer"
    case .gif: "gifsave_buffer"
    case .tiff: "tiffsave_buffer"
    case .avif: "heifsave_buffer"
    case .jpegXL: "jxlsave_buffer"
    default: nil
    }
  }
}

extension OutputFormat {
  /// The image format; nil if it depends on the source image.
  var imageFormat: ImageFormat? { ImageFormat(rawValue: rawValue) }
}
