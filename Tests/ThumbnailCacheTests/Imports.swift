// What most tests of this target need.
@_exported public import GRDB
@_exported public import HTTPSemantics
@_exported public import Synchronization
@_exported public import TestSupport
@_exported public import ThumbnailCache
@_exported public import ThumbnailCore
