import Foundation
import HTTPServer
import NIOCore

/// Uploads by a form (RFC 7578).
enum MultipartForm {
  private static let longestHead = 8 << 10
  private static let longestBoundary = 70

  static func isForm(_ request: ServerRequest) -> Bool {
    request.headers.first(name: "content-type")?.lowercased().hasPrefix("multipart/form-data") == true
  }

  /// The content of the first field that is a file. Nil if the body is no form, or has none.
  static func file(of request: ServerRequest) -> ByteBuffer? {
    guard isForm(request), let boundary = request.headers.first(name: "content-type").flatMap(boundary) else {
      return nil
    }
    let body = request.body.readableBytesView
    let delimiter = Array("--\(boundary)".utf8)
    let lineEnd = Array("\r\n".utf8)
    var place = body.startIndex
    while let start = body[place...].firstRange(of: delimiter) {
      let headStart = start.upperBound
      guard let headEnd = body[headStart...].firstRange(of: lineEnd + lineEnd) else { return nil }
      guard let end = body[headEnd.upperBound...].firstRange(of: lineEnd + delimiter) else { return nil }
      let head = body[headStart..<headEnd.lowerBound]
      guard head.count <= longestHead else { return nil }
      if String(decoding: head, as: UTF8.self).lowercased().contains("filename=") {
        return request.body.getSlice(at: headEnd.upperBound, length: end.lowerBound - headEnd.upperBound)
      }
      place = end.lowerBound + lineEnd.count
    }
    return nil
  }

  private static func boundary(in type: String) -> String? {
    guard let place = type.range(of: "boundary=", options: .caseInsensitive) else { return nil }
    let value = type[place.upperBound...].prefix { $0 != ";" }
    let plain = value.drop { $0 == "\"" || $0 == " " }.prefix { $0 != "\"" && $0 != " " }
    return plain.isEmpty || plain.utf8.count > longestBoundary ? nil : String(plain)
  }
}
