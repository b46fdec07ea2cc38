/// The client for offline mode: every request fails.
package struct OfflineHTTPClient: HTTPClient {
  package init() {}

  package func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
    throw .unreachable(reason: "nobody is asked offline (cacheMode)")
  }
}
