/// Waits until the condition holds, looking every few milliseconds.
///
/// Gives up after `deadline`, but not before it has looked some hundred times: on a machine that is busy with other
/// tests the time may pass without anybody having had a chance to bring the condition about.
///
/// - Returns: False when it did not hold by then.
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
