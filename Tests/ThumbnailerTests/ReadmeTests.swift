import Foundation
import TestOrigin
import Testing

import Thumbnailer

/// The README's example of the library, compiled and run. The lines between the marks are the README's, to the letter.
private func readmeExample(directory: URL, url: URL, requests: [ThumbnailRequest]) async throws {
  // README begins
  let pipeline = try ThumbnailPipeline(.init(cacheDirectory: directory))
  let request = ThumbnailRequest(url, size: PixelSize(400, 400), fit: .cover)

  // One thumbnail. Whoever asks for the same picture meanwhile shares its download and its decode.
  let thumbnail = try await pipeline.thumbnail(for: request)

  // In a cell: what memory holds at once, without waiting.
  let atHand = pipeline.cachedThumbnail(for: request.key)

  // Many: each with its own success or error, as they complete, in bounded memory.
  for await result in pipeline.thumbnails(for: requests) {
    switch result.result {
    case .success(let response): print(response.thumbnail.size, response.origin)
    case .failure(let error): print(error.message)
    }
  }
  // README ends
  #expect(atHand == thumbnail)
}

@Suite(.timeLimit(.minutes(1))) struct ReadmeTests {
  @Test func theReadmesExampleIsThisCode() throws {
    let here = URL(fileURLWithPath: #filePath)
    let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let code = try String(contentsOf: here, encoding: .utf8)
    let begin = try #require(code.range(of: "  // README begins\n")?.upperBound)
    let end = try #require(code.range(of: "  // README ends\n")?.lowerBound)
    let example = code[begin..<end].split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : String($0) }.joined(separator: "\n")
    let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    #expect(readme.contains("import Thumbnailer\n\n" + example))
  }

  @Test func theReadmesExampleRuns() async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let origin = try Origin { _ in .ok(picture) }
    defer { origin.stop() }
    let directory = try TemporaryDirectory()
    let url = origin.url("/a.jpg")
    try await readmeExample(
      directory: directory.url, url: url, requests: [ThumbnailRequest(url, size: PixelSize(100, 100))])
  }
}
