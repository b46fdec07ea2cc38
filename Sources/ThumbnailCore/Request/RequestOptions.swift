/// Options of one request that replace the pipeline's configuration; nil means as configured.
///
/// Requests of one image share a job, and so its download and decode, only if their options are equal: no request gets
/// the result of other options.
public struct RequestOptions: Hashable, Sendable {
  /// When a stored thumbnail is used, and whether anything is requested or stored. See `CacheMode`.
  public var cacheMode: CacheMode?
  /// The longest body that is downloaded, or read from a file. Does not apply to stored thumbnails.
  public var maximumSourceBytes: ByteSize?
  /// The most pixels the image may have. Does not apply to stored thumbnails.
  public var maximumPixels: Int?

  /// Whether nothing is loaded: a thumbnail that is not stored, or is stale, fails with `ThumbnailError.notCached`.
  package var isStoredOnly = false
  /// The most pixels of a thumbnail that a stranger requests. Its decode then takes at most half of the memory for
  /// decodes. Does not apply to stored thumbnails.
  package var strangersPixels: Int?
  /// Whether a part of an image fails with `ThumbnailError.invalidRequest` if all of a large image has to be decoded
  /// for it. Does not apply to stored thumbnails.
  package var isCutOnly = false

  /// Everything as configured, except the given values.
  public init(cacheMode: CacheMode? = nil, maximumSourceBytes: ByteSize? = nil, maximumPixels: Int? = nil) {
    self.cacheMode = cacheMode
    self.maximumSourceBytes = maximumSourceBytes
    self.maximumPixels = maximumPixels
  }

  /// A message that says which value is invalid and what to do; nil if all are valid.
  var problem: String? {
    if let problem = cacheMode?.problem { return problem }
    if let maximumPixels, maximumPixels < 1 { return "the pixel limit must be at least 1" }
    if let maximumSourceBytes, maximumSourceBytes.bytes < 1 { return "the byte limit of a picture must be at least 1" }
    return nil
  }
}

/// When a stored thumbnail is used as it is, and when its source image is revalidated with the server.
///
/// Local files are identified by modification time and length, and need no revalidation in any mode.
public enum CacheMode: Sendable, Hashable {
  /// As the server specified (`Cache-Control`, `Expires`); without that for a week, or a tenth of the time since
  /// `Last-Modified` if that is less. With `stale-while-revalidate`, a stale thumbnail is returned at once and
  /// revalidated in the background. If the server cannot be reached the stale thumbnail is used, unless forbidden
  /// (`must-revalidate`, `no-cache`).
  case standard
  /// Thumbnails that were fetched or confirmed before the pipeline was created are revalidated once, whatever the
  /// server specified. A server that cannot be reached is an error.
  case refresh
  /// Only thumbnails that were fetched or confirmed longer ago than this are revalidated, whatever the server
  /// specified.
  case maximumAge(Duration)
  /// No requests are sent: stored thumbnails of any age are used, and a miss fails with `ThumbnailError.notCached`.
  case offline
  /// The caches are neither read nor changed: the image is always fetched.
  case noStore

  /// A message that says why the value is invalid; nil if it is valid.
  package var problem: String? {
    if case .maximumAge(let age) = self, age < .zero { return "the maximum age must not be negative" }
    return nil
  }
}

/// What happens to truncated or damaged images.
public enum DamagePolicy: String, Sendable, Codable, CaseIterable {
  /// They are an error.
  case refuse
  /// The readable part is shown, the rest is mid-grey, and the thumbnail is marked (`Thumbnail.isDamaged`). This works
  /// for JPEG and GIF, and for the first rows of non-interlaced PNG, TIFF and other formats that a helper reads row by
  /// row. In other formats, and if no row can be read, damage stays an error.
  case accept
}

/// Which of the small images that cameras embed in their files may stand for the image.
public enum PreviewUse: String, Sendable, Hashable, CaseIterable {
  /// None: every thumbnail is made from the image itself.
  case off
  /// The thumbnails in the containers of HEIC and AVIF that look like tiles spread over the image.
  case auto
}

/// Which small image in a file stands for the image in a thumbnail.
public enum UsedPreview: String, Sendable, Hashable, Codable, CaseIterable {
  /// The thumbnail of a HEIC or AVIF, which looks like at least eight tiles spread over the image.
  case checked
  /// The JPEG that a camera has stored in its RAW file, without a comparison.
  case camera
}
