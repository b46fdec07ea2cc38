import CCurl
import Foundation
import HTTPSemantics

/// Owns one libcurl easy handle and the memory that it points to: the lists of header fields and addresses, and the
/// error buffer.
///
/// Handles are reused for later transfers (`reset`), which keeps their TLS sessions. Not thread-safe.
final class CurlEasyHandle {
  /// libcurl's handle; valid as long as this object lives.
  let pointer: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var addressList: UnsafeMutablePointer<curl_slist>?

  /// Nil when out of memory.
  init?() {
    guard CurlLibrary.startFailure == nil, let pointer = curl_easy_init() else { return nil }
    self.pointer = pointer
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    ccurl_setopt_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
  }

  deinit {
    curl_easy_cleanup(pointer)
    curl_slist_free_all(headerList)
    curl_slist_free_all(addressList)
    errorText.deallocate()
  }

  /// Resets all options. No transfer may be running.
  func reset() {
    curl_easy_reset(pointer)
    curl_slist_free_all(headerList)
    curl_slist_free_all(addressList)
    (headerList, addressList) = (nil, nil)
    errorText[0] = 0
    ccurl_setopt_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
  }

  func set(_ option: CURLoption, _ value: Int) { ccurl_setopt_long(pointer, option, value) }
  func set(_ option: CURLoption, _ value: Bool) { ccurl_setopt_long(pointer, option, value ? 1 : 0) }
  /// libcurl copies the string.
  func set(_ option: CURLoption, _ value: String) { ccurl_setopt_string(pointer, option, value) }

  /// Sends these fields; they replace libcurl's own of the same name.
  func setHeaders(_ headers: [HTTPHeader]) {
    var list: UnsafeMutablePointer<curl_slist>?
    for header in headers {
      // libcurl sends an empty field only if it is written with a semicolon; with a colon it would remove the field.
      let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
      list = curl_slist_append(list, line) ?? list
    }
    ccurl_setopt_list(pointer, CURLOPT_HTTPHEADER, list)
    curl_slist_free_all(headerList)
    headerList = list
  }

  /// Uses these addresses for the URL's host instead of the resolver's. With none, the resolver is used.
  func setAddresses(_ addresses: [String], of url: CurlURL) {
    guard !addresses.isEmpty else { return }
    let list = curl_slist_append(nil, "\(url.host):\(url.port):\(addresses.joined(separator: ","))")
    ccurl_setopt_list(pointer, CURLOPT_RESOLVE, list)
    curl_slist_free_all(addressList)
    addressList = list
  }

  func number(_ info: CURLINFO) -> Int {
    var value = 0
    ccurl_getinfo_long(pointer, info, &value)
    return value
  }

  func offset(_ info: CURLINFO) -> Int {
    var value: curl_off_t = 0
    ccurl_getinfo_offset(pointer, info, &value)
    return Int(value)
  }

  /// libcurl's message about the last failure: the specific one if any, else the code's.
  func message(for code: CURLcode) -> String {
    let own = String(cString: errorText)
    return own.isEmpty ? String(cString: curl_easy_strerror(code)) : own
  }
}

extension CurlEasyHandle {
  /// Configures the handle for one request: URL, header fields, timeouts, TLS and proxy.
  ///
  /// `conditions` are sent in addition to the request's own fields.
  func prepare(for transfer: Transfer, conditions: [HTTPHeader]) {
    let configuration = transfer.configuration
    set(CURLOPT_URL, transfer.url.text)
    set(CURLOPT_PATH_AS_IS, transfer.isSigned)
    ccurl_allow_only_http(pointer)
    set(CURLOPT_NOSIGNAL, true)
    set(CURLOPT_FOLLOWLOCATION, false)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    ccurl_leave_resolver_behind(pointer)
    set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.milliseconds)
    set(CURLOPT_USERAGENT, configuration.sentUserAgent)
    if transfer.url.scheme == "https" {
      // Waits for a connection that may be multiplexed instead of opening another.
      set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
      set(CURLOPT_PIPEWAIT, true)
    } else {
      // Without TLS there is no HTTP/2, and the first requests would wait for each other's responses.
      set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    }
    setTrust(transfer)
    setAddresses(configuration.addressesOfHost(transfer.url.host), of: transfer.url)

    var defaults = [HTTPHeader("Accept", transfer.accept)]
    if transfer.ignoresContentEncoding {
      // Without the option libcurl decompresses nothing.
      defaults.append(HTTPHeader("Accept-Encoding", "identity"))
    } else {
      // Images are requested without compression, because they are compressed already and their length must be known.
      // If the server compresses nevertheless, libcurl decompresses. With an empty string libcurl lists all encodings
      // that it supports.
      set(CURLOPT_ACCEPT_ENCODING, transfer.request.purpose == .api ? "" : "identity")
    }
    setHeaders(transfer.headers(defaults, adding: conditions))
  }

  /// Certificate authorities, client certificate and proxy.
  private func setTrust(_ transfer: Transfer) {
    let (configuration, url) = (transfer.configuration, transfer.url)
    if let file = configuration.certificateAuthorityFile {
      set(CURLOPT_CAINFO, file)
      set(CURLOPT_PROXY_CAINFO, file)
    }
    if let certificate = configuration.clientCertificates.first(where: {
      $0.host.matches(host: url.host, port: url.port)
    }) {
      set(CURLOPT_SSLCERT, certificate.certificateFile)
      set(CURLOPT_SSLKEY, certificate.certificateFile)
      // Without a password, the TLS library would prompt for it on the terminal, and block.
      set(CURLOPT_KEYPASSWD, certificate.password ?? "")
    }
    switch configuration.proxy {
    // The environment's proxy would connect to addresses that are not checked.
    case .environment where configuration.addresses.isGuarded: set(CURLOPT_PROXY, "")
    case .environment: break
    case .none: set(CURLOPT_PROXY, "")
    case .url(let url):
      set(CURLOPT_PROXY, url)
      // Ignores exceptions in the environment's no_proxy.
      set(CURLOPT_NOPROXY, "")
    }
  }
}

extension Duration {
  /// Whole milliseconds for libcurl and poll: rounded up, at least 1, clamped to 32 bits.
  var milliseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds < Int64(Int32.max) / 1000 else { return Int(Int32.max) }
    return max(1, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
  }
}
