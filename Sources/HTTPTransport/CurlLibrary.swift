import CCurl
import Foundation

/// libcurl functions that need no handle.
package enum CurlLibrary {
  /// Initialises libcurl once per process; must be read before any handle is made.
  static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// `libcurl/7.88.1`: the version at run time, which may be newer than the one at build time.
  package static let name = "libcurl/\(String(cString: ccurl_version()))"
}
