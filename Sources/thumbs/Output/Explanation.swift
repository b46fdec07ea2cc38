import Foundation
import Thumbnailer

/// Explains how an image was decoded and at what cost: `--explain`.
final class Explanation: Sendable {
  private let lines: Task<[String], Never>

  /// Observes a pipeline that makes one thumbnail.
  init(following pipeline: ThumbnailPipeline) {
    let events = pipeline.events
    lines = Task {
      var lines: [String] = []
      for await event in events {
        switch event.kind {
        case .opened(let bytes): lines.append("file: \(ByteSize(bytes: bytes))")
        case .downloaded(let bytes, let expected, let isComplete, _, _, _):
          let whole = isComplete ? "all" : expected.map { "of \(ByteSize(bytes: $0)), the rest left" } ?? "not all"
          lines.append("downloaded: \(ByteSize(bytes: bytes)), \(whole)")
        case .planned(let description, let bytes):
          lines.append("plan: \(description)")
          lines.append("memory: at most \(ByteSize(bytes: bytes))")
        case .rendered(_, _, let duration, _):
          lines.append("made in \(duration.milliseconds.rounded(toPlaces: 1)) ms")
          return lines
        case .failed, .cancelled: return lines
        default: break
        }
      }
      return lines
    }
  }

  /// Prints the explanation, on stderr if stdout has the image.
  func print(of thumbnail: Thumbnail, toStdout: Bool) async {
    // The last event may arrive after the thumbnail; the time limit covers the case that it is lost.
    let limit = Task { [lines] in
      try? await Task.sleep(for: .seconds(1))
      lines.cancel()
    }
    let seen = await lines.value
    limit.cancel()
    let source = "picture: \(thumbnail.source.format.displayName), \(thumbnail.source.size)"
    let made = "thumbnail: \(thumbnail.format.displayName), \(thumbnail.size), \(ByteSize(bytes: thumbnail.data.count))"
    for line in [source] + seen + [made] {
      if toStdout { try? Console.standard.print(line) } else { Console.standard.complain(line) }
    }
  }
}
