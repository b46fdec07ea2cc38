import NIOCore
import NIOHTTP1

/// Refuses request lines that are not three words with single spaces between them (RFC 9112): the parser accepts more
/// spaces, and a proxy in front may read such a line differently.
///
/// It is before the parser, and `End` after it, which reports the framing of the body and the beginning of the next
/// request. It passes on whole heads and bodies only, because many small parts would keep the thread busy.
final class RequestLineCheck: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private enum Place {
    case line, head, body, chunkLength, chunkExtension, refused
    /// Bytes that the parser does not read.
    case other
  }

  private static let newline = UInt8(ascii: "\n")
  private static let blank = UInt8(ascii: " ")

  private var place = Place.line
  /// The missing bytes of a body or chunk.
  private var missing = 0
  private var isInChunks = false
  /// The last byte of a line or head, carriage returns left out.
  private var last = newline

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var rest = unwrapInboundIn(data)
    while rest.readableBytes > 0 {
      if case .refused = place { return }
      let length = rest.withUnsafeReadableBytes { scan($0) }
      if case .refused = place { return context.fireErrorCaught(HTTPParserError.invalidURL) }
      // The parser and `End` are done with it when this returns.
      if let part = rest.readSlice(length: length) { context.fireChannelRead(wrapInboundOut(part)) }
    }
  }

  /// Follows the bytes to the end of a head or body. Returns the length of that.
  private func scan(_ bytes: UnsafeRawBufferPointer) -> Int {
    var index = 0
    while index < bytes.count {
      if case .other = place { return bytes.count }
      if case .body = place {
        let length = min(missing, bytes.count - index)
        (index, missing) = (index + length, missing - length)
        if missing > 0 || !isInChunks { return index }
        (place, last) = (.chunkLength, Self.newline)
        continue
      }
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\r") { continue }
      switch (place, byte, last) {
      case (.line, Self.blank, Self.blank), (.line, Self.blank, Self.newline), (.line, Self.newline, Self.blank):
        place = .refused
        return index
      case (.head, Self.newline, Self.newline):
        // Until `End` knows better.
        place = .other
        return index
      // An empty line, as before a request and behind a chunk.
      case (.line, Self.newline, Self.newline), (.chunkLength, Self.newline, Self.newline): break
      case (.line, Self.newline, _): place = .head
      // Fields may follow the last chunk, and end as a head does.
      case (.chunkLength, Self.newline, _), (.chunkExtension, Self.newline, _): place = missing > 0 ? .body : .head
      case (.chunkLength, _, _):
        if let digit = Character(UnicodeScalar(byte)).hexDigitValue {
          // The parser refuses longer ones.
          missing = min(missing, Int.max >> 5) << 4 | digit
        } else {
          place = .chunkExtension
        }
      default: break
      }
      last = byte
    }
    return index
  }

  /// Behind the parser.
  final class End: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let check: RequestLineCheck

    init(of check: RequestLineCheck) { self.check = check }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): check.beginBody(head.headers)
      case .end: (check.place, check.last) = (.line, RequestLineCheck.newline)
      case .body: break
      }
      context.fireChannelRead(data)
    }
  }

  private func beginBody(_ headers: HTTPHeaders) {
    isInChunks = headers.contains(name: "transfer-encoding")
    missing = headers.first(name: "content-length").flatMap { Int($0) } ?? 0
    (place, last) = (isInChunks ? .chunkLength : missing > 0 ? .body : .other, Self.newline)
  }
}
