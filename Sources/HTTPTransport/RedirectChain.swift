import HTTPSemantics

/// The redirects of one attempt: the current URL, and which header fields may still be sent. A pure value.
struct RedirectChain: Sendable {
  private(set) var url: CurlURL
  private(set) var headers: [HTTPHeader]
  private var redirects = 0
  private let maximumRedirects: Int

  init(url: CurlURL, headers: [HTTPHeader], maximumRedirects: Int) {
    self.url = url
    self.headers = headers
    self.maximumRedirects = maximumRedirects
  }

  /// Follows a `Location` field. The request's own header fields are dropped for good when it leads to another host,
  /// since they may hold credentials.
  mutating func follow(_ location: String) throws(DownloadError) {
    guard redirects < maximumRedirects else { throw .tooManyRedirects(limit: maximumRedirects) }
    redirects += 1
    let next: CurlURL
    do {
      next = try CurlURL(parsing: location, relativeTo: url)
    } catch .invalidURL {
      throw .invalidResponse(reason: "redirect to something that is no URL")
    }
    guard next.scheme == "http" || next.scheme == "https" else { throw .redirectToUnsupportedScheme(next.scheme) }
    if !url.sharesCredentials(with: next) { headers = [] }
    headers = next.addingLogin(to: headers)
    url = next
  }
}
