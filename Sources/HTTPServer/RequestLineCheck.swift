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
    case line, head
    /// Within a body of which so many bytes are missing; nil for one in chunks.
    case body(Int?)
    case refused
  }

  private static let newline = UInt8(ascii: "\n")
  private static let blank = UInt8(ascii: " ")

  private var place = Place.line
  /// The last byte of a line or head, carriage returns left out.
  private var last = newline

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

  /// Follows a head to its end. Returns the length of that.
  private func scanHead(_ bytes: UnsafeRawBufferPointer) -> Int {
    for (index, byte) in bytes.enumerated() where byte != UInt8(ascii: "\r") {
      switch (place, byte, last) {
      case (.line, Self.blank, Self.blank), (.line, Self.blank, Self.newline), (.line, Self.newline, Self.blank):
        place = .refused
        return index
      case (.head, Self.newline, Self.newline):
        // Until `End` knows better: a request without a body ends here.
        place = .body(nil)
        return index + 1
      case (.line, Self.newline, Self.newline): break
      case (.line, Self.newline, _): place = .head
      default: break
      }
      last = byte
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
      case .end: (check.place, check.last) = (.line, RequestLineCheck.newline)
      case .body: break
      }
      context.fireChannelRead(data)
    }
  }
}
