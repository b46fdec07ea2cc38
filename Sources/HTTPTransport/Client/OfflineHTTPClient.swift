/// The small client where nobody is to be asked.
package struct OfflineHTTPClient: HTTPClient {
  package init() {}

  package func get(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
    throw .unreachable(reason: "nobody is asked offline (cacheMode, --offline)")
  }
}
