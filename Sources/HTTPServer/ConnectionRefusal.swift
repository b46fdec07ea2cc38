import HTTPSemantics
import NIOCore
import NIOHTTP1

/// Closes a connection that there is no room for, with a response to whatever it was opened for.
final class ConnectionRefusal: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let status: HTTPResponseStatus

  init(_ status: HTTPResponseStatus) { self.status = status }

  func channelActive(context: ChannelHandlerContext) {
    let response = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\nretry-after: 1\r\nconnection: close\r\n"
    let bytes = ByteBuffer(string: response + "content-length: 0\r\n\r\n")
    context.writeAndFlush(NIOAny(bytes)).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
  }
}

extension Shares.Refusal {
  /// 429 where the client has used up its part, 503 where all have used up all.
  var status: HTTPResponseStatus { self == .holder ? .tooManyRequests : .serviceUnavailable }
}
