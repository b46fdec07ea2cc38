@testable import HTTPTransport

extension DownloadConfiguration {
  /// Quick to try again, so that tests take no time, patient with hosts that want a pause, and without the proxy of
  /// whoever runs them.
  static func quick(_ change: (inout Self) -> Void = { _ in }) -> Self {
    var configuration = Self()
    configuration.proxy = .none
    configuration.retry.baseDelay = .milliseconds(2)
    configuration.hosts.firstPause = .milliseconds(2)
    configuration.maximumWait = .seconds(200)
    configuration.connectTimeout = .seconds(20)
    configuration.stallTimeout = .seconds(40)
    configuration.lending = .patient
    change(&configuration)
    return configuration
  }
}

extension LendingRules {
  /// For tests that hold answers back: on a busy machine that may take seconds.
  static var patient: Self {
    var rules = Self()
    (rules.patience, rules.strictPatience) = (.seconds(120), .seconds(120))
    return rules
  }
}
