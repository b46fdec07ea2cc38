import Logging
import Thumbnailer

import TestSupport

@Suite(.timeLimit(.minutes(5))) struct LoggerExampleTests {
  @Test func thePageShowsThisCode() throws {
    #expect(try Snippet("Logger").isShown(in: "Sources/Thumbnailer/Thumbnailer.docc/Extending.md"))
  }

  @Test func aPipelineLogsByItsOwnLoggerWithTheStage() async throws {
    let lines = Recorder<String>()
    func handler(label: String) -> any LogHandler { LineHandler(label: label, lines: lines) }
    let failures = Recorder<Int>()
    let origin = try Origin { [picture = try TestImages.bytes("formats/jpeg-420.jpg")] _ in
      failures.append(1)
      return failures.values.count == 1 ? .status(503) : .ok(picture, type: "image/jpeg")
    }
    let directory = try TemporaryDirectory()
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    configuration.proxy = .none
    // Logger begins
    configuration.logger = Logger(label: "shop.thumbnails", factory: handler)
    configuration.logger?.logLevel = .debug
    configuration.logger?[metadataKey: "shop"] = "books"
    let pipeline = try ThumbnailPipeline(configuration)
    // Logger ends
    _ = try await pipeline.thumbnail(for: ThumbnailRequest(origin.url("/a.jpg?key=secret"), size: PixelSize(40, 40)))
    let line = try #require(lines.values.first)
    #expect(lines.values.count == 1 && line.hasPrefix("shop.thumbnails debug shop=books stage=download attempt 1 at "))
    #expect(!line.contains("secret"))
  }
}

/// Records lines with their metadata, sorted by name.
private struct LineHandler: LogHandler {
  let label: String
  let lines: Recorder<String>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let values = metadata.merging(event.metadata ?? [:]) { $1 }
    let words = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    lines.append(([label, event.level.rawValue] + words + ["\(event.message)"]).joined(separator: " "))
  }
}
