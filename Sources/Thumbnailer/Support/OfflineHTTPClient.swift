/// The small client where nobody is to be asked.
struct OfflineHTTPClient: HTTPClient {
  func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
    throw .unreachable(reason: "nobody is asked offline (cacheMode, --offline)")
  }
}
