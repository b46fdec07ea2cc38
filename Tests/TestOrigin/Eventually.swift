/// Waits until the condition holds, polling every few milliseconds.
///
/// Gives up after `deadline`, but not before about a hundred polls: on a machine busy with other tests the time may
/// pass before other threads could run.
///
/// - Returns: False if the condition did not hold by then.
public func eventually(
  within deadline: Duration = .seconds(60), _ condition: () async throws -> Bool
) async rethrows -> Bool {
  let end = ContinuousClock.now + deadline
  var looks = 0
  while try await !condition() {
    looks += 1
    if ContinuousClock.now >= end, looks > 300 { return false }
    try? await Task.sleep(for: .milliseconds(2))
  }
  return true
}
