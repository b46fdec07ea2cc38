@testable package import HTTPTransport

extension DownloadConfiguration {
  /// Fast retries for quick tests, patient with rate limits, and independent of proxy variables in the environment.
  package static func quick(_ change: (inout Self) -> Void = { _ in }) -> Self {
    var configuration = Self()
    configuration.proxy = .none
    configuration.retry.backoff.first = .milliseconds(2)
    configuration.hosts.backoff.first = .milliseconds(2)
    configuration.maximumWait = .seconds(200)
    configuration.connectTimeout = .seconds(200)
    configuration.stallTimeout = .seconds(200)
    configuration.minimumRate = 0
    configuration.silence = .patient
    configuration.resolverPatience = .seconds(200)
    change(&configuration)
    return configuration
  }
}

extension SilencePolicy {
  /// For tests that hold responses back, which on a busy machine may take seconds.
  package static var patient: Self {
    var policy = Self()
    (policy.timeout, policy.strictTimeout) = (.seconds(120), .seconds(120))
    return policy
  }
}
