// What most tests of this target need.
@_exported public import HTTPServer
@_exported public import NIOCore
@_exported public import TestSupport
