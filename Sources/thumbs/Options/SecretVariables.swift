import Foundation
import PhotoSources
import DecodeSandbox
import Thumbnailer

/// The environment variables that hold secrets: taken out of the environment as the command starts, so that no other
/// process finds them there.
enum SecretVariables {
  /// The variable with the password of a client certificate's key.
  static let keyPassword = "THUMBS_CLIENT_KEY_PASSWORD"

  /// The values that were set, by name.
  static let values = ProcessPrivacy.takeVariables([
    ProviderSpecification.unsplashKeyVariable, ProviderSpecification.pexelsKeyVariable, keyPassword,
    ServiceOptions.signingKeysVariable, ServiceOptions.imaginaryKeyVariable, ServiceOptions.imgproxyKeyVariable,
    ServiceOptions.imgproxySaltVariable, ServiceOptions.purgeKeyVariable,
  ])

  /// The environment, with the secrets in it.
  static var environment: [String: String] { ProcessInfo.processInfo.environment.merging(values) { $1 } }

  /// To be called before other threads run. Proxies may have a password in their URL; libcurl looks for them later.
  static func hide() {
    _ = values
    ProcessPrivacy.hideVariables(ThumbnailPipeline.Configuration.proxyVariables)
  }
}
