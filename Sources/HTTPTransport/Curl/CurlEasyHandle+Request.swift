import CCurl
import Foundation
import HTTPSemantics

extension CurlEasyHandle {
  /// Configures the handle for one request: URL, header fields, timeouts, TLS and proxy.
  ///
  /// `conditions` are sent in addition to the request's own fields.
  func prepare(for transfer: Transfer, conditions: [HTTPHeader]) {
    let configuration = transfer.configuration
    set(CURLOPT_URL, transfer.url.text)
    ccurl_allow_only_http(pointer)
    set(CURLOPT_NOSIGNAL, true)
    set(CURLOPT_FOLLOWLOCATION, false)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    ccurl_leave_resolver_behind(pointer)
    set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.milliseconds)
    set(CURLOPT_USERAGENT, configuration.sentUserAgent)
    if transfer.url.scheme == "https" {
      // Wait for a connection that may be multiplexed rather than open another.
      set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
      set(CURLOPT_PIPEWAIT, true)
    } else {
      // Without TLS there is no HTTP/2, and waiting would make each first request wait for the response before it.
      set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    }
    setTrust(transfer)
    setAddresses(configuration.addressesOfHost(transfer.url.host), of: transfer.url)

    var defaults = [HTTPHeader("Accept", transfer.accept)]
    if let encodings = transfer.acceptedEncodings {
      set(CURLOPT_ACCEPT_ENCODING, encodings)
    } else {
      // Without the option libcurl decompresses nothing.
      defaults.append(HTTPHeader("Accept-Encoding", "identity"))
    }
    setHeaders(transfer.headers(defaults, adding: conditions))
  }

  /// Certificate authorities, client certificate and proxy.
  private func setTrust(_ transfer: Transfer) {
    if let file = transfer.configuration.certificateAuthorityFile { set(CURLOPT_CAINFO, file) }
    if let certificate = transfer.clientCertificate {
      set(CURLOPT_SSLCERT, certificate.certificateFile)
      set(CURLOPT_SSLKEY, certificate.keyFile ?? certificate.certificateFile)
      // Without a password, the TLS library would prompt for it on the terminal, and block.
      set(CURLOPT_KEYPASSWD, certificate.password ?? "")
    }
    switch transfer.configuration.proxy {
    // It would connect to addresses that nobody checks.
    case .environment where transfer.configuration.addresses.isGuarded: set(CURLOPT_PROXY, "")
    case .environment: break
    case .none: set(CURLOPT_PROXY, "")
    case .url(let url):
      set(CURLOPT_PROXY, url)
      // Otherwise the environment's no_proxy would make exceptions.
      set(CURLOPT_NOPROXY, "")
    }
  }
}
