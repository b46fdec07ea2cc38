import Foundation
import HTTPServer
import NIOHTTP1
import ThumbnailCore

/// The bodies and fields that responses have in common.
extension ServerResponse {
  /// The content of a JSON error.
  struct Problem: Error, Sendable {
    let status: HTTPResponseStatus
    /// A short, stable name for programs.
    let code: String
    /// One line for people: the problem and what to do about it.
    let message: String
    /// Fields of the response, such as `Retry-After` or `Allow`.
    let headers: HTTPHeaders

    init(_ status: HTTPResponseStatus, _ code: String, _ message: String, headers: HTTPHeaders = [:]) {
      (self.status, self.code, self.message, self.headers) = (status, code, message, headers)
    }

    static let notFound = Problem(.notFound, "not-found", "there is nothing at this address")
  }

  /// An error, which must not be stored.
  static func problem(_ problem: Problem) -> ServerResponse {
    json(["error": problem.code, "message": problem.message], status: problem.status, headers: problem.headers)
  }

  /// An object as JSON, which must not be stored.
  static func json(
    _ object: JSONObject, status: HTTPResponseStatus = .ok, headers: HTTPHeaders = [:]
  ) -> ServerResponse {
    var headers = headers
    headers.add(contentsOf: [
      "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff",
    ])
    return ServerResponse(status, headers: headers, body: .bytes(Data(object.bytes)))
  }

  /// Nothing, since all is done.
  static let noContent = ServerResponse(.noContent, headers: ["cache-control": "no-store"])

  /// A text.
  static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> ServerResponse {
    ServerResponse(
      .ok, headers: ["content-type": type, "cache-control": "no-store", "x-content-type-options": "nosniff"],
      body: .bytes(Data(text.utf8)))
  }
}
