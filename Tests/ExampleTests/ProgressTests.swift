import Thumbnailer

import TestSupport

@Suite(.timeLimit(.minutes(5))) struct ProgressTests {
  @Test func thePageShowsThisCode() throws {
    #expect(try Snippet("Progress").isShown(in: "Sources/Thumbnailer/Thumbnailer.docc/Extending.md"))
  }

  @Test func theProgressOfARequestIsFollowed() async throws {
    let example = try Example()
    let (pipeline, request) = (example.pipeline, example.request("/a.jpg"))
    let shown = Recorder<String>()
    let show = { @Sendable in shown.append($0) }
    // Progress begins
    let response = try await pipeline.response(for: request) { progress in
      switch progress.stage {
      case .downloading: show("\(Int(100 * (progress.fraction ?? 0))) %")
      default: show("\(progress.stage)")
      }
    }
    // Progress ends
    #expect(response.origin == .source && !shown.values.isEmpty)
  }
}
