/// Thumbnails of images from the web and from files: the pipeline that looks up, downloads, decodes and stores them,
/// and the prefetcher for scrolling grids.
///
/// The types of its API that stand in other modules are exported here, one by one.

// Requests
@_exported public import struct HTTPSemantics.HTTPHeader
@_exported public import struct ThumbnailCore.ByteSize
@_exported public import enum ThumbnailCore.CacheMode
@_exported public import enum ThumbnailCore.DamagePolicy
@_exported public import enum ThumbnailCore.Fit
@_exported public import enum ThumbnailCore.Gravity
@_exported public import enum ThumbnailCore.MetadataPolicy
@_exported public import enum ThumbnailCore.OutputFormat
@_exported public import struct ThumbnailCore.PixelSize
@_exported public import enum ThumbnailCore.PreviewUse
@_exported public import enum ThumbnailCore.Priority
@_exported public import struct ThumbnailCore.RequestOptions
@_exported public import struct ThumbnailCore.RGBColor
@_exported public import struct ThumbnailCore.TargetSize
@_exported public import struct ThumbnailCore.ThumbnailRequest
@_exported public import struct ThumbnailCore.Variant

// Images, also those that the program loads itself
@_exported public import protocol ThumbnailCore.ImageLoading
@_exported public import struct ThumbnailCore.ImageLoadRequest
@_exported public import struct ThumbnailCore.ImageSource
@_exported public import struct ThumbnailCore.LoadedImage
@_exported public import struct ThumbnailCore.RawPath

// Thumbnails
@_exported public import struct ThumbnailCore.CacheKey
@_exported public import enum ThumbnailCore.ImageFormat
@_exported public import struct ThumbnailCore.Placeholder
@_exported public import struct ThumbnailCore.SourceDescription
@_exported public import struct ThumbnailCore.Thumbnail
@_exported public import struct ThumbnailCore.ThumbnailPixels
@_exported public import struct ThumbnailCore.ThumbnailProcessor
@_exported public import enum ThumbnailCore.UsedPreview
@_exported public import struct ThumbnailCore.InvalidValue

// Downloads
@_exported public import struct HTTPTransport.AddressPolicy
@_exported public import struct HTTPTransport.AddressRange
@_exported public import protocol HTTPTransport.HTTPClient
@_exported public import enum HTTPTransport.HTTPClientError
@_exported public import struct HTTPTransport.HTTPRequest
@_exported public import struct HTTPTransport.HTTPResponse
@_exported public import enum HTTPTransport.ProxyChoice

// Helper processes
@_exported public import enum DecodeSandbox.DecodeHelper
@_exported public import struct DecodeSandbox.DecodeIsolation
