// What most tests of this target need.
@_exported public import TestSupport
@_exported public import ThumbnailCore
