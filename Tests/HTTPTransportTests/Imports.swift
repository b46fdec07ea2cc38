// What most tests of this target need.
@_exported public import HTTPSemantics
@_exported public import HTTPTransport
@_exported public import Synchronization
@_exported public import TestSupport
@_exported public import ThumbnailCore
@_exported public import TransportTestSupport
