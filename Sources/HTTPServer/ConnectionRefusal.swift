import Foundation
import HTTPSemantics
import NIOCore
import NIOHTTP1

extension Shares.Refusal {
  /// 429 where the client has used up its part, 503 where all have used up all.
  var status: HTTPResponseStatus { self == .holder ? .tooManyRequests : .serviceUnavailable }

  /// Writes a response to whatever a connection was opened for, as far as that is possible at once.
  func respond(on socket: NIOBSDSocket.Handle) {
    let response = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\nretry-after: 1\r\nconnection: close\r\n"
    _ = Array((response + "content-length: 0\r\n\r\n").utf8).withUnsafeBytes {
      send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
  }
}
