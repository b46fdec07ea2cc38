/// Thumbnails of images from the web and from files: the pipeline that looks up, downloads, decodes and stores them,
/// and the prefetcher for scrolling grids.
///
/// The module shows the types that most programs name, at most 50. The other types of its API are in modules that are
/// products, too: `ThumbnailCore` (framing, encoding), `HTTPTransport` and `HTTPSemantics` (clients, headers, proxies,
/// addresses), `ThumbnailCache` (maintenance of the caches) and `DecodeSandbox` (confinement).

// Requests
@_exported public import struct ThumbnailCore.ByteSize
@_exported public import enum ThumbnailCore.CacheMode
@_exported public import enum ThumbnailCore.Fit
@_exported public import enum ThumbnailCore.OutputFormat
@_exported public import struct ThumbnailCore.PixelSize
@_exported public import enum ThumbnailCore.Priority
@_exported public import struct ThumbnailCore.RequestOptions
@_exported public import struct ThumbnailCore.TargetSize
@_exported public import struct ThumbnailCore.ThumbnailRequest
@_exported public import struct ThumbnailCore.Variant

// Images, also those that the program loads itself
@_exported public import protocol ThumbnailCore.ImageLoading
@_exported public import struct ThumbnailCore.ImageLoadRequest
@_exported public import struct ThumbnailCore.ImageSource
@_exported public import struct ThumbnailCore.LoadedImage

// Thumbnails
@_exported public import struct ThumbnailCore.CacheKey
@_exported public import enum ThumbnailCore.ImageFormat
@_exported public import struct ThumbnailCore.Placeholder
@_exported public import struct ThumbnailCore.SourceDescription
@_exported public import struct ThumbnailCore.SourceKey
@_exported public import struct ThumbnailCore.Thumbnail
@_exported public import struct ThumbnailCore.ThumbnailPixels
@_exported public import struct ThumbnailCore.ThumbnailProcessor

// Helper processes
@_exported public import enum DecodeSandbox.DecodeHelper
