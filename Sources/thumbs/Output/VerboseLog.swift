import ArgumentParser
import Foundation
import Logging
import Synchronization
import ThumbnailCore
import Thumbnailer

/// The output of `--verbose` on stderr: the library's logs, and the events of the followed pipeline.
final class VerboseLog: Sendable {
  private let task = Mutex<Task<Void, Never>?>(nil)

  private static let printsLogs = Atomic(false)
  /// Set up once in a process, be it one of tests, which runs several commands.
  private static let logging: Void = LoggingSystem.bootstrap { label in
    guard printsLogs.load(ordering: .relaxed) else { return SwiftLogNoOpLogHandler() }
    return ConsoleLogHandler(label: label)
  }

  private init() {}

  /// Starts the logging of the library. Without `isVerbose` all logs are discarded, since the command prints its own
  /// messages for the user.
  ///
  /// - Returns: The log, to follow a pipeline; nil without `isVerbose`.
  @discardableResult static func start(_ isVerbose: Bool) -> VerboseLog? {
    printsLogs.store(isVerbose, ordering: .relaxed)
    _ = logging
    return isVerbose ? VerboseLog() : nil
  }

  /// Runs a command with the logging of the library, prints the last events, and ends with the command's status.
  ///
  /// - Parameter work: Drops its pipeline when it returns.
  static func following(_ isVerbose: Bool, _ work: (VerboseLog?) async throws -> ExitCode) async throws {
    let log = start(isVerbose)
    let result: Result<ExitCode, any Error>
    do { result = .success(try await work(log)) } catch { result = .failure(error) }
    await log?.finish()
    try result.get().end()
  }

  /// Observes a pipeline without retaining it.
  func follow(_ pipeline: ThumbnailPipeline) {
    let events = pipeline.events(bufferingNewest: 65536)
    task.withLock {
      $0 = Task {
        for await event in events {
          // A group of changes concerns no single image.
          if case .committed = event.kind { continue }
          Console.standard.complain(Self.line(event))
        }
      }
    }
  }

  /// Waits until the last event is printed; to be called when the pipeline is dropped.
  private func finish() async {
    guard let task = task.withLock({ $0 }) else { return }
    // A time limit, in case the pipeline is still retained elsewhere.
    let limit = Task {
      try? await Task.sleep(for: .seconds(1))
      task.cancel()
    }
    await task.value
    limit.cancel()
  }

  private static func line(_ event: PipelineEvent) -> String {
    let what = words(event.kind)
    return event.source.map { "\($0.displayName): \(what)" } ?? what
  }

  private static func words(_ kind: PipelineEvent.Kind) -> String {
    switch kind {
    case .memoryHit(let variant): "\(variant.size) from memory"
    case .diskHit(let variant, let isShrunk, let duration):
      "\(variant.size) \(isShrunk ? "shrunk from a larger one" : "from disk") in \(milliseconds(duration))"
    case .joined(let variant): "\(variant.size) joins the running job"
    case .opened(let bytes): "opened a file of \(bytes) bytes"
    case .attempted(let number, let status): "attempt \(number): " + (status.map { "status \($0)" } ?? "no response")
    case .downloaded(let bytes, let expected, let isComplete, let attempts, let version, let duration):
      "downloaded \(bytes)" + (isComplete ? "" : " of \(expected.map { "\($0)" } ?? "unknown")")
        + " bytes over \(version) in \(milliseconds(duration))" + (attempts > 1 ? ", attempt \(attempts)" : "")
    case .revalidated(let duration): "not changed, says the server, in \(milliseconds(duration))"
    case .replaced: "the picture has changed: what was stored gives way"
    case .servedStale(let variants, let error):
      "\(variants.map { "\($0.size)" }.joined(separator: ", ")) out of date, but the server cannot be asked: "
        + error.shownMessage
    case .servedWhileRevalidating(let variant): "\(variant.size) out of date, while the server is asked"
    case .revalidationFailed(let error): "still out of date: \(error.shownMessage)"
    case .rememberedFailure(let code, _): "\(code) is remembered: nobody is asked"
    case .planned(let description, let bytes): "\(description), at most \(ByteSize(bytes: bytes))"
    case .rendered(let variants, _, let duration, _):
      "made \(variants.map { "\($0.size)" }.joined(separator: ", ")) in \(milliseconds(duration))"
    case .stored(let variant, let bytes): "stored \(variant.size), \(bytes) bytes"
    case .committed(let changes, let duration): "\(changes) changes stored in \(milliseconds(duration))"
    case .failed(_, let error): "failed: \(error.shownMessage)"
    case .cancelled: "cancelled"
    case .hostPaused(let host, let duration, let failure, let isWaitedFor):
      PauseNotice.message(host, duration, failure: failure) + (isWaitedFor ? "; waiting" : "; nobody waits")
    case .cacheProblem(let problem): problem
    }
  }

  private static func milliseconds(_ duration: Duration) -> String {
    "\(duration.milliseconds.rounded(toPlaces: 1)) ms"
  }
}

/// Writes log lines through the console, which removes secrets and control characters.
private struct ConsoleLogHandler: LogHandler {
  let label: String
  var logLevel = Logger.Level.debug
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    Console.standard.complain("\(event.level) \(label): \(Advice.withOptions("\(event.message)"))")
  }
}

extension ImageSource {
  /// The name shown to the user: a file's path, or the URL without secrets.
  var displayName: String {
    isUserFile
      ? PlainText.path(RawPath(fileURL: url).description) : url.absoluteString.withoutSecrets(isAddress: true)
  }
}
