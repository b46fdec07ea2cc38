// What most tests of this target need.
@_exported public import HTTPServer
@_exported public import NIOCore
@_exported public import NIOHTTP1
@_exported public import PhotoSources
@_exported public import TestSupport
@_exported public import ThumbnailCore
@_exported public import ThumbnailServer
@_exported public import Thumbnailer
