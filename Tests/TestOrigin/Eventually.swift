/// Waits until the condition holds, looking every few milliseconds.
///
/// - Returns: False when it still did not hold at the deadline.
public func eventually(
  within deadline: Duration = .seconds(30), _ condition: () async throws -> Bool
) async rethrows -> Bool {
  let end = ContinuousClock.now + deadline
  while try await !condition() {
    if ContinuousClock.now >= end { return false }
    try? await Task.sleep(for: .milliseconds(2))
  }
  return true
}
