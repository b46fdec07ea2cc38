import Foundation

/// The time, as providers keep it. Tests put one in its place whose hours pass at once.
struct ProviderClock: Sendable {
  /// For intervals.
  var now: @Sendable () -> ContinuousClock.Instant = { .now }
  /// For times of day that a provider names.
  var date: @Sendable () -> Date = { Date() }
  /// Waits; throws when the task is cancelled.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
}
