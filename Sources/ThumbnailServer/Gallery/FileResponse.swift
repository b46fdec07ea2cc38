import Foundation
import HTTPServer
import NIOCore
import NIOHTTP1
import NIOPosix
import ThumbnailCore

/// The part of a file that a request asks for (RFC 9110, section 14). One range is sent; a request for several, or one
/// that cannot be understood, has the whole file as its response.
enum ByteRange: Equatable {
  case whole
  case part(Range<Int>)
  /// The range is behind the end of the file.
  case outside

  /// - Parameter tag: The strong validator of the file, which `If-Range` may name.
  init(of request: ServerRequest, tag: String, length: Int) {
    self = .whole
    let fields = request.headers["range"]
    guard request.method == .GET, fields.count == 1, request.headers["if-range"].allSatisfy({ $0 == tag }),
      let match = fields[0].wholeMatch(of: #/(?i)bytes=([0-9]*)-([0-9]*)/#)
    else { return }
    // More digits than a number has are behind every end.
    func number(_ digits: Substring) -> Int? { digits.isEmpty ? nil : min(Int(digits) ?? .max, .max - 1) }
    switch (number(match.1), number(match.2)) {
    case (let first?, let last):
      if let last, last < first { return }
      self = first < length ? .part(first..<min(length, (last ?? length) + 1)) : .outside
    case (nil, let count?): self = count > 0 && length > 0 ? .part(max(0, length - count)..<length) : .outside
    case (nil, nil): return
    }
  }
}

extension RawPath {
  /// The file, open for reading, which the caller closes, with its state; nil if there is none.
  func opened() -> (descriptor: CInt, state: FileState)? {
    let descriptor = withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { return nil }
    if let state = try? FileState(ofOpen: descriptor), state.kind == .regular { return (descriptor, state) }
    close(descriptor)
    return nil
  }
}

extension ServerResponse {
  /// A body of a length, or the part of it that the request asks for.
  static func ranged(
    _ length: Int, tag: String, headers: HTTPHeaders, to request: ServerRequest, body: (Range<Int>) -> Body
  ) -> ServerResponse {
    var headers = headers
    headers.add(contentsOf: ["accept-ranges": "bytes", "etag": tag])
    switch ByteRange(of: request, tag: tag, length: length) {
    case .whole: return ServerResponse(.ok, headers: headers, body: body(0..<length))
    case .part(let range):
      headers.add(name: "content-range", value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)")
      return ServerResponse(.partialContent, headers: headers, body: body(range))
    case .outside:
      headers.add(name: "content-range", value: "bytes */\(length)")
      return ServerResponse(.rangeNotSatisfiable, headers: headers)
    }
  }

  /// A file that is open for reading, or the part of it that the request asks for. A client that takes it slowly holds
  /// one part of it in memory, and no thread.
  static func file(
    _ descriptor: CInt, _ state: FileState, headers: HTTPHeaders, to request: ServerRequest
  ) -> ServerResponse {
    let tag = "\"\(String(state.modified, radix: 36))-\(String(state.byteCount, radix: 36))\""
    let file = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
    let response = ranged(state.byteCount, tag: tag, headers: headers, to: request) { .file(file, $0) }
    if response.status == .rangeNotSatisfiable { try? file.close() }
    return response
  }
}

/// The header field that names a download.
enum ContentDisposition {
  /// A name with other characters than ASCII's is sent as UTF-8 (RFC 6266), with an ASCII name beside it.
  static func attachment(named name: String) -> String {
    let plain = String(
      name.unicodeScalars.map { scalar in
        scalar.isASCII && scalar.value >= 0x20 && scalar != "\"" && scalar != "\\" && scalar.value != 0x7f
          ? Character(scalar) : "_"
      })
    let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(encoded)"
  }
}
