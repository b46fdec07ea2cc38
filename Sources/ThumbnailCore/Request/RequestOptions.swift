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
