import CCurl
import Foundation

/// What libcurl offers without a handle.
package enum CurlLibrary {
  /// Readies libcurl once in a process; every use of a handle begins here.
  static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// `libcurl/7.88.1`: the version that runs, which may be newer than the one we were built with.
  package static let name = "libcurl/\(String(cString: ccurl_version()))"
}
