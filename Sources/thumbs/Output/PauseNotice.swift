import Synchronization
import Thumbnailer

/// Reports on stderr that a run waits for a host or a photo service, once for each.
final class PauseNotice: Sendable {
  private let task: Task<Void, Never>

  /// Observes a pipeline without retaining it.
  init(_ pipeline: ThumbnailPipeline) {
    let events = pipeline.pauses()
    task = Task {
      var said: Set<String> = []
      for await event in events {
        guard case .hostPaused(let host, let duration, let failure, true) = event.kind, said.insert(host).inserted
        else {
          continue
        }
        Console.standard.complain("\(Self.message(host, duration, failure: failure)); waiting")
      }
    }
  }

  deinit { task.cancel() }

  /// The message about a pause and its reason.
  static func message(_ host: String, _ duration: Duration, failure: String?) -> String {
    // Tolerates that a few milliseconds have passed.
    let seconds = Int((duration / .seconds(1) - 0.05).rounded(.up))
    guard let failure else { return "\(host) asks for a pause of \(seconds) s" }
    return "\(host) has failed several times in a row (\(failure)) and is left alone for \(seconds) s"
  }
}
