/// Thumbnails of images from the web and from files: the pipeline that looks up, downloads, decodes and stores them,
/// and the prefetcher for scrolling grids.
///
/// Importing this module also imports the modules that its API uses: requests and thumbnails, header fields and hosts,
/// the caches, and the confinement of decoders. Searches, galleries, folders and exports are separate modules.
@_exported public import DecodeSandbox
@_exported public import HTTPSemantics
@_exported public import HTTPTransport
@_exported public import ThumbnailCache
@_exported public import ThumbnailCore
