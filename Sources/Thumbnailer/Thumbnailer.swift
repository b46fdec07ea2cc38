/// Thumbnails from anywhere, in time for whoever scrolls: the pipeline that looks a picture up, downloads, decodes and
/// stores it, and the prefetcher that runs ahead of a viewport.
///
/// Whoever imports this module has the vocabulary of those that it is made of, too: requests and thumbnails, header
/// fields and hosts, the caches, and the confinement of decoders. Searches, galleries, folders and exports are modules of
/// their own.
@_exported public import DecodeSandbox
@_exported public import HTTPSemantics
@_exported public import HTTPTransport
@_exported public import ThumbnailCache
@_exported public import ThumbnailCore
