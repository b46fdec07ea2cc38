import CCurl
import CLazyLibraries
import Foundation

/// libcurl functions that need no handle.
package enum CurlLibrary {
  /// Loads and initialises libcurl once per process. The reason if that failed, else nil. Must be read before the first
  /// handle is made.
  package static let startFailure: String? = {
    if let reason = clazy_load_curl() { return String(cString: reason) }
    let status = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    return status == CURLE_OK ? nil : String(cString: curl_easy_strerror(status))
  }()

  /// `libcurl/7.88.1`: the version at run time, which may be newer than the one at build time. The process ends if
  /// there is no libcurl.
  package static let name = "libcurl/\(String(cString: ccurl_version()))"
}

/// The features of the libcurl in use.
package struct CurlFeatures: Sendable {
  /// The version, such as `7.88.1`.
  package let version: String
  /// The TLS library and its version; nil without TLS.
  package let tls: String?
  /// The supported schemes, such as `http` and `https`.
  package let protocols: [String]
  /// The supported versions of HTTP: `1.1`, `2`, `3`.
  package let httpVersions: [String]
  /// The supported content encodings: `gzip`, `br`, `zstd`.
  package let compressions: [String]
  /// Whether name resolution does not block other transfers.
  package let resolvesAsynchronously: Bool

  /// Nil if libcurl cannot be loaded (`CurlLibrary.startFailure`).
  package init?() {
    if CurlLibrary.startFailure != nil { return nil }
    let info = ccurl_version_info().pointee
    func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
    func has(_ feature: Int32) -> Bool { info.features & feature != 0 }
    version = text(info.version) ?? ""
    tls = text(info.ssl_version)
    var protocols: [String] = []
    while let name = info.protocols[protocols.count] { protocols.append(String(cString: name)) }
    self.protocols = protocols
    httpVersions = ["1.1"] + (has(CURL_VERSION_HTTP2) ? ["2"] : []) + (has(CURL_VERSION_HTTP3) ? ["3"] : [])
    compressions =
      (has(CURL_VERSION_LIBZ) ? ["gzip"] : []) + (has(CURL_VERSION_BROTLI) ? ["br"] : [])
      + (has(CURL_VERSION_ZSTD) ? ["zstd"] : [])
    resolvesAsynchronously = has(CURL_VERSION_ASYNCHDNS)
  }
}
