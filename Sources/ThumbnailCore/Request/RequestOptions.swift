/// What one request wants otherwise than the pipeline's configuration says; nil means as configured.
///
/// Requests of one image share a job, and so its download and decode, only if their options are equal: a request never
/// gets what another one's options brought.
public struct RequestOptions: Hashable, Sendable {
  /// When a stored thumbnail is used, and whether anything is requested or stored. See `CacheMode`.
  public var cacheMode: CacheMode?
  /// The longest body that is downloaded, or read from a file. Does not apply to stored thumbnails.
  public var maximumSourceBytes: ByteSize?
  /// The most pixels the image may have. Does not apply to stored thumbnails.
  public var maximumPixels: Int?

  /// Whether nothing is loaded: what is not stored, or has to be revalidated, fails with `ThumbnailError.notCached`.
  package var isStoredOnly = false
  /// The most pixels the thumbnail may have where strangers say what is made. Its decode then takes at most half of the
  /// memory that there is for decodes. Does not apply to stored thumbnails.
  package var strangersPixels: Int?

  /// Everything as configured but what is given.
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
