/// The format of an image, detected from its bytes.
public enum ImageFormat: String, Sendable, Codable, CaseIterable {
  case jpeg, png, webp, gif, tiff, heif, avif
  /// A camera's RAW file of any maker. Its embedded JPEG is shown.
  case raw
  case svg, pdf, jpegXL = "jxl", jpeg2000 = "jp2", openEXR = "exr", pnm, bmp, ico, radiance = "hdr"

  /// Whether the file has no pixels and is rendered at any size.
  package var isDrawing: Bool { self == .svg || self == .pdf }

  /// The usual file name extension, without the dot.
  public var fileExtension: String {
    switch self {
    case .jpeg: "jpg"
    case .tiff: "tif"
    case .heif: "heic"
    case .raw: "dng"
    default: rawValue
    }
  }

  /// All file name extensions of this format, in lower case and without the dot.
  package var fileExtensions: [String] {
    switch self {
    case .jpeg: ["jpg", "jpeg", "jpe", "jfif"]
    case .png: ["png", "apng"]
    case .tiff: ["tif", "tiff"]
    case .heif: ["heic", "heif", "hif"]
    case .raw:
      [
        "cr2", "cr3", "nef", "nrw", "arw", "sr2", "srf", "dng", "raf", "orf", "rw2", "rwl", "pef", "srw", "mrw", "3fr",
        "fff", "iiq", "erf", "dcr", "kdc", "mos", "mef",
      ]
    case .svg: ["svg", "svgz"]
    case .jpeg2000: ["jp2", "j2k", "j2c", "jpc", "jpf"]
    case .pnm: ["pnm", "ppm", "pgm", "pbm", "pfm"]
    case .bmp: ["bmp", "dib"]
    case .ico: ["ico", "cur"]
    default: [rawValue]
    }
  }

  /// The media type for `Content-Type`: as registered with IANA, else the usual one.
  public var mediaType: String {
    switch self {
    case .raw: "image/x-dcraw"
    case .svg: "image/svg+xml"
    case .pdf: "application/pdf"
    case .openEXR: "image/x-exr"
    case .pnm: "image/x-portable-anymap"
    case .ico: "image/vnd.microsoft.icon"
    case .radiance: "image/vnd.radiance"
    default: "image/\(rawValue)"
    }
  }

  /// The common name of the format, for messages.
  package var displayName: String {
    switch self {
    case .webp: "WebP"
    case .jpegXL: "JPEG XL"
    case .jpeg2000: "JPEG 2000"
    case .openEXR: "OpenEXR"
    case .radiance: "Radiance HDR"
    default: rawValue.uppercased()
    }
  }
}

/// The format a thumbnail is written in.
public enum OutputFormat: String, Sendable, Codable, CaseIterable {
  /// JPEG, or WebP for an image with transparent parts.
  case auto
  case jpeg, png, webp, avif, jxl
  /// The source image's own format if it is JPEG, PNG, WebP, GIF, TIFF, AVIF or JPEG XL; as `auto` for all others.
  case same
}

/// An opaque colour, 8 bits a channel, sRGB.
public struct RGBColor: Hashable, Sendable, Codable {
  /// Red, 0 to 255.
  public var red: UInt8
  /// Green, 0 to 255.
  public var green: UInt8
  /// Blue, 0 to 255.
  public var blue: UInt8

  /// A colour of three channels, each 0 to 255.
  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Pure white.
  package static let white = RGBColor(red: 255, green: 255, blue: 255)

  /// `rrggbb` in lower-case hexadecimal digits.
  package var hex: String {
    let value = String(Int(red) << 16 | Int(green) << 8 | Int(blue), radix: 16)
    return String(repeating: "0", count: 6 - value.count) + value
  }

  /// Reads `rrggbb` or `#rrggbb`. Nil for anything else.
  package init?(hex text: some StringProtocol) {
    let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
    guard digits.count == 6, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16) else { return nil }
    self.init(red: UInt8(value >> 16), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
  }
}
