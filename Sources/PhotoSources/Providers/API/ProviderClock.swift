import Foundation

/// The clock of a provider. Tests inject one that does not wait.
struct ProviderClock: Sendable {
  /// For intervals.
  var now: @Sendable () -> ContinuousClock.Instant = { .now }
  /// For dates that a provider sends.
  var date: @Sendable () -> Date = { Date() }
  /// Waits; throws when the task is cancelled.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
}
