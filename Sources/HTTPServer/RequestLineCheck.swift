import NIOCore
import NIOHTTP1

/// Refuses request lines that are not three words with one blank between them (RFC 9112): the parser accepts more blanks,
/// and a proxy in front may read such a line differently.
///
/// It stands before the parser, and `End` behind it, which tells where the next request begins.
final class RequestLineCheck: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private enum Place {
    /// Before or within a request line; whether the last byte was a blank.
    case line(afterBlank: Bool)
    /// Behind it; whether this line is empty so far.
    case head(isEmpty: Bool)
    /// Within a body of which so many bytes are missing; nil for one in chunks.
    case body(Int?)
    case refused
  }

  private var place = Place.line(afterBlank: false)
  /// The bytes of the request line, without its end.
  private var lineLength = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var rest = unwrapInboundIn(data)
    while rest.readableBytes > 0 {
      let length: Int
      switch place {
      case .line, .head: length = rest.withUnsafeReadableBytes { scanHead($0) }
      case .body(let missing?) where missing > 0:
        length = min(missing, rest.readableBytes)
        place = .body(missing - length)
      // Its end is that of a line.
      case .body:
        length =
          rest.readableBytesView.firstIndex(of: Self.newline).map { $0 + 1 - rest.readerIndex } ?? rest.readableBytes
      case .refused: return
      }
      if case .refused = place { return context.fireErrorCaught(HTTPParserError.invalidURL) }
      // The parser and `End` are done with it when this returns.
      if let part = rest.readSlice(length: length) { context.fireChannelRead(wrapInboundOut(part)) }
    }
  }

  private static let newline = UInt8(ascii: "\n")

  /// Follows a head to its end. Returns the length of that.
  private func scanHead(_ bytes: UnsafeRawBufferPointer) -> Int {
    for (index, byte) in bytes.enumerated() {
      switch (place, byte) {
      case (.line(let afterBlank), Self.newline) where lineLength > 0:
        place = afterBlank ? .refused : .head(isEmpty: true)
        lineLength = 0
      case (.line, Self.newline), (_, UInt8(ascii: "\r")): break
      case (.line(let afterBlank), _):
        let isBlank = byte == UInt8(ascii: " ")
        place = isBlank && afterBlank ? .refused : .line(afterBlank: isBlank)
        lineLength += 1
      case (.head(isEmpty: true), Self.newline):
        // Until `End` knows better: a request without a body ends here.
        place = .body(nil)
        return index + 1
      case (.head, _): place = .head(isEmpty: byte == Self.newline)
      case (.body, _), (.refused, _): return index
      }
    }
    return bytes.count
  }

  /// Behind the parser.
  final class End: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let check: RequestLineCheck

    init(of check: RequestLineCheck) { self.check = check }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): check.place = .body(head.headers.first(name: "content-length").flatMap { Int($0) })
      case .end: check.place = .line(afterBlank: false)
      case .body: break
      }
      context.fireChannelRead(data)
    }
  }
}
