import Foundation
import HTTPTransport

extension ThumbnailPipeline.Configuration {
  /// The environment variables of libcurl's proxies, which may contain a password in their URL.
  package static let proxyVariables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

  /// A message if connections would be made past the guard of addresses; nil if there is no such bypass.
  ///
  /// A proxy from the environment is refused, not left out: connections without it may be forbidden here.
  package func guardBypass(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
    guard addresses.isGuarded else { return nil }
    if roundTripper != nil {
      return "the program's own HTTP client connects past the guard of addresses: let it ask AddressPolicy.allows, and "
        + "leave the pipeline's addresses at any"
    }
    guard proxy == .environment,
      let variable = Self.proxyVariables.first(where: { environment[$0].map { !$0.isEmpty } ?? false })
    else { return nil }
    return "\(variable) names a proxy, which would connect past the guard of addresses: choose none, or name it "
      + "(proxy) if it refuses them itself"
  }
}
