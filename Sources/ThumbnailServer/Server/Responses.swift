import Foundation
import HTTPServer
import NIOHTTP1

/// The bodies and fields that responses have in common.
extension ServerResponse {
  /// What a JSON error says.
  struct Problem: Error, Sendable {
    let status: HTTPResponseStatus
    /// A short, stable name for programs.
    let code: String
    /// One line for people: what is wrong and what to do about it.
    let message: String
    /// Fields of the response: when to come again, or which methods there are.
    let headers: HTTPHeaders

    init(_ status: HTTPResponseStatus, _ code: String, _ message: String, headers: HTTPHeaders = [:]) {
      (self.status, self.code, self.message, self.headers) = (status, code, message, headers)
    }

    static let notFound = Problem(.notFound, "not-found", "there is nothing at this address")
  }

  private struct ProblemBody: Encodable {
    let error: String
    let message: String
  }

  /// An error, which nobody may store.
  static func problem(_ problem: Problem) -> ServerResponse {
    json(
      ProblemBody(error: problem.code, message: problem.message), status: problem.status, headers: problem.headers)
  }

  /// A value as JSON, which nobody may store.
  static func json(
    _ value: some Encodable, status: HTTPResponseStatus = .ok, headers: HTTPHeaders = [:]
  ) -> ServerResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    guard let data = try? encoder.encode(value) else { return ServerResponse(.internalServerError) }
    var headers = headers
    headers.add(contentsOf: [
      "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff",
    ])
    return ServerResponse(status, headers: headers, body: .bytes(data))
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
