import Foundation
import HTTPServer
import NIOCore

/// Uploads by a form (RFC 7578).
enum MultipartForm {
  /// The content of the first field that is a file. Nil if the body is no form, or has none.
  static func file(of request: ServerRequest) -> ByteBuffer? {
    guard let type = request.headers.first(name: "content-type"), type.lowercased().hasPrefix("multipart/form-data"),
      let boundary = boundary(in: type)
    else { return nil }
    let body = request.body.readableBytesView
    let delimiter = Array("--\(boundary)".utf8)
    let lineEnd = Array("\r\n".utf8)
    var place = body.startIndex
    while let start = body[place...].firstRange(of: delimiter) {
      let headStart = start.upperBound
      guard let headEnd = body[headStart...].firstRange(of: lineEnd + lineEnd) else { return nil }
      guard let end = body[headEnd.upperBound...].firstRange(of: lineEnd + delimiter) else { return nil }
      if String(decoding: body[headStart..<headEnd.lowerBound], as: UTF8.self).lowercased().contains("filename=") {
        return ByteBuffer(bytes: body[headEnd.upperBound..<end.lowerBound])
      }
      place = end.lowerBound + lineEnd.count
    }
    return nil
  }

  private static func boundary(in type: String) -> String? {
    guard let place = type.range(of: "boundary=", options: .caseInsensitive) else { return nil }
    let value = type[place.upperBound...].prefix { $0 != ";" }
    let plain = value.drop { $0 == "\"" || $0 == " " }.prefix { $0 != "\"" && $0 != " " }
    return plain.isEmpty ? nil : String(plain)
  }
}
