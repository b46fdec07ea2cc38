import GRDB
@_exported public import TestSupport

@testable import HTTPSemantics
@testable import HTTPTransport
@testable import TransportTestSupport
@_exported @testable public import ThumbnailCore
@_exported @testable public import Thumbnailer

/// A pipeline with its own cache folder, and an origin.
struct PipelineFixture {
  let directory: TemporaryDirectory
  let origin: Origin
  let pipeline: ThumbnailPipeline
  let recorder = EventRecorder()

  /// A pipeline, and an origin that responds to every path with `answer`.
  init(
    configuring configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in },
    answer: @escaping @Sendable (OriginRequest) -> OriginResponse
  ) throws {
    directory = try TemporaryDirectory()
    origin = try Origin(answer)
    pipeline = try Self.pipeline(in: directory, configure)
    recorder.follow(pipeline)
  }

  /// A pipeline, and an origin that responds to every path with a small image.
  init() throws { try self.init { _ in .picture } }

  /// Another pipeline on the same cache folder, as after a restart.
  func restarted(
    configuring configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) async throws -> ThumbnailPipeline {
    await pipeline.flush()
    return try Self.pipeline(in: directory, configure)
  }

  func request(
    _ path: String = "/a.jpg", _ size: PixelSize = PixelSize(40, 40), headers: [HTTPHeader] = [],
    priority: Thumbnailer.Priority = .visible
  ) -> ThumbnailRequest {
    ThumbnailRequest(
      ImageSource(origin.url(path), headers: headers), variant: Variant(size: size, fit: .cover), priority: priority)
  }

  private static func pipeline(
    in directory: TemporaryDirectory, _ configure: (inout ThumbnailPipeline.Configuration) -> Void
  ) throws -> ThumbnailPipeline {
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    configuration.attempts = 1
    // On a busy machine a test may hold an answer back for long.
    configuration.stallTimeout = .seconds(200)
    configuration.hosts.backoff.first = .zero
    configuration.silence = .patient
    // Without the start of a helper for each test; what is decoded there is the same (`IsolationTests`).
    configuration.isolation = .inProcess
    // A response that a test holds back may be silent for longer than the rate window on a busy machine.
    configuration.minimumRate = ByteSize(bytes: 0)
    // Independent of proxy variables in the environment.
    configuration.proxy = .none
    // The default of a release build.
    configure(&configuration)
    return try ThumbnailPipeline(configuration)
  }
}

/// Records the events of a pipeline in order, but for commits of its cache, which come when they come.
final class EventRecorder: Sendable {
  private let recorder = Recorder<PipelineEvent>()

  var kinds: [PipelineEvent.Kind] { recorder.values.map(\.kind) }

  func follow(_ pipeline: ThumbnailPipeline) {
    let events = pipeline.events
    Task { [recorder] in
      for await event in events {
        if case .committed = event.kind { continue }
        recorder.append(event)
      }
    }
  }
}

/// Changes a byte of the image in every row of the disk cache, to simulate disk corruption.
func damageEveryRow(in directory: URL) async throws {
  let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
  let file = try #require(files.first { $0.pathExtension == "sqlite" })
  let queue = try DatabaseQueue(path: file.path)
  try await queue.write { database in
    try database.execute(sql: "UPDATE piece SET data = CAST(substr(data, 1, 20) || x'00' || substr(data, 22) AS BLOB)")
  }
}

extension ThumbnailPipeline {
  /// The error of a request; nil if it succeeds.
  func failure(_ request: ThumbnailRequest) async -> ThumbnailError? {
    do throws(ThumbnailError) {
      _ = try await response(for: request)
      return nil
    } catch {
      return error
    }
  }
}

/// The error thrown by a task.
func failure<Success>(of task: Task<Success, any Error>) async -> ThumbnailError? {
  do {
    _ = try await task.value
    return nil
  } catch {
    return error as? ThumbnailError
  }
}
