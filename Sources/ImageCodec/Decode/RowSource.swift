import ThumbnailCore

/// Decodes an image row by row, from the top down: the first stage between a file and its thumbnails.
///
/// A source is used by one thread at a time, and holds no more of the image than its format requires. That of HEIC and
/// AVIF may start another thread, which ends with the source.
protocol RowSource: AnyObject {
  /// The layout of the rows.
  var layout: RowLayout { get }

  /// Limits, before the first read, the samples of each plane that are used; the others need not be decoded. The source
  /// still passes all rows up to the last used one, with any samples outside the windows; rows at the top may be blank.
  func limit(to windows: [PixelRectangle])

  /// Decodes the next rows and passes them to `receive`: a band of each plane, or of some. Returns false, without
  /// passing rows, after the last row of all planes.
  ///
  /// - Throws: `.truncated`, `.damaged(.decode, …)` or `.unreadableBody`. Nothing may be read after an error.
  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool
}

extension RowSource {
  func limit(to windows: [PixelRectangle]) {}
}

/// How the rows of a source are laid out.
struct RowLayout: Sendable, Equatable {
  /// The meaning of the samples of all planes together.
  enum Colour: Sendable, Equatable {
    /// One plane of 1 gray, 2 gray and alpha, 3 RGB or 4 RGB and alpha. Alpha is not premultiplied.
    case interleaved
    /// One plane of four inks, from 0 to 255 for the most, as in libvips.
    case cmyk
    /// Three planes of one channel: luma and chroma, full range, with the `weights` of the layout.
    case ycc
  }

  enum Sample: Sendable, Equatable {
    case uint8
    /// In the machine's byte order, 65,535 for white.
    case uint16
  }

  struct Plane: Sendable, Equatable {
    /// The samples across and down.
    var size: PixelSize
    /// 1 to 4.
    var channels: Int
    /// The part of the plane that the image covers, in samples from the upper left corner: 750.125 of 751 samples
    /// across if 6001 pixels were reduced by eight.
    var extent: PixelExtent
    /// The side of the square of source pixels whose mean a sample is: 8 for a JPEG read at 1/8, else 1.
    var box = 1
    /// The pixels across and down that a decoder makes of a sample by linear interpolation: 2 for halved chroma as it is
    /// stored, else 1.
    var upsampling = PixelSize(1, 1)
  }

  var colour = Colour.interleaved
  var sample = Sample.uint8
  /// Whether the last channel of an interleaved plane is alpha.
  var hasAlpha = false
  var planes: [Plane]
  /// The weights of luma, if there is luma.
  var weights = LumaWeights.jfif
  /// The ICC profile of the file, if it has one.
  var storedProfile: [UInt8]?

  /// The ICC profile of the samples, if the file has one that fits them.
  var profile: [UInt8]? {
    let channels = planes.reduce(0) { $0 + $1.channels }
    return ICCProfile.fitting(storedProfile, colours: channels - (hasAlpha && colour != .cmyk ? 1 : 0))
  }

  /// What interleaved samples mean, if the source knows of it: `ToneMappedRows` maps them.
  var codedLight: CodedLight?

  var sampleBytes: Int { sample == .uint16 ? 2 : 1 }

  /// The most rows of a band of one of several planes, so that none is far ahead of another.
  static let mostRows = 16

  /// The plane of whose rows the smallest part was read; nil after the last row of all.
  func nextPlane(after rows: [Int]) -> Int? {
    var next: Int?
    for (plane, shape) in planes.enumerated() where rows[plane] < shape.size.height {
      if let other = next, rows[plane] * planes[other].size.height >= rows[other] * shape.size.height { continue }
      next = plane
    }
    return next
  }

  /// The layout of one plane of interleaved samples.
  init(size: PixelSize, channels: Int, sample: Sample = .uint8, profile: [UInt8]? = nil) {
    let extent = PixelExtent(width: Double(size.width), height: Double(size.height))
    planes = [Plane(size: size, channels: channels, extent: extent)]
    (self.sample, storedProfile, hasAlpha) = (sample, profile, channels == 2 || channels == 4)
  }

  init(_ colour: Colour = .ycc, planes: [Plane], profile: [UInt8]? = nil) {
    (self.colour, self.planes, storedProfile) = (colour, planes, profile)
  }
}

/// A width and height in fractional pixels.
struct PixelExtent: Sendable, Equatable {
  var width: Double
  var height: Double
}

/// Consecutive rows of one plane; valid only during the call that passes them, unless they last.
struct RowBand {
  var plane = 0
  /// The first sample of the first row.
  var start: UnsafeRawPointer
  /// The bytes from a row to the next.
  var stride: Int
  /// The number of rows.
  var count: Int
  /// Whether they stay valid as long as the source.
  var isLasting = false
  /// Whether the rows were not decoded, because none of their samples is used.
  var isBlank = false

  static func blank(plane: Int = 0, count: Int) -> RowBand {
    RowBand(plane: plane, start: nowhere, stride: 0, count: count, isBlank: true)
  }

  // Safety: it is never read.
  private nonisolated(unsafe) static let nowhere = UnsafeRawPointer(
    UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
}
