@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import Thumbnailer

/// What pipelines hold of the system besides memory, in processes of their own: other tests open files, too.
@Suite(.timeLimit(.minutes(5))) struct HeldResourcesTests {
  @Test func closedPipelinesLeaveNoFileNoThreadAndNoHelper() async {
    await #expect(processExitsWith: .success) {
      let origin = try Origin.picture()
      // The first ones start what lasts as long as the process: libraries, and the runtime's threads.
      for isolation in [DecodeIsolation.inProcess, DecodeIsolation()] { try await usePipeline(origin, isolation) }
      // So does the first sleep: `poll` sleeps on a slow machine only, and the runtime keeps a timer.
      try await Task.sleep(for: .milliseconds(2))
      // What is closed is so a moment later.
      await poll { HeldResources().isAtRest }
      #expect(HeldResources().isAtRest)
      let before = HeldResources()
      for _ in 0..<2 {
        for isolation in [DecodeIsolation.inProcess, DecodeIsolation()] { try await usePipeline(origin, isolation) }
      }
      await poll { HeldResources().isAtMost(before) }
      #expect(HeldResources().isAtMost(before))
    }
  }

  @Test func anIdlePipelineHoldsTheSameAfterManyPictures() async {
    await #expect(processExitsWith: .success) {
      let origin = try Origin.picture()
      let directory = try TemporaryDirectory()
      let pipeline = try pipeline(in: directory, DecodeIsolation())
      try await makeThumbnails(pipeline, origin, numbers: 0..<50)
      let before = HeldResources()
      try await makeThumbnails(pipeline, origin, numbers: 50..<350)
      await poll { HeldResources().files == before.files }
      #expect(HeldResources().files == before.files)
      #expect(HeldResources().children.count <= before.children.count)
    }
  }
}

/// Opens a pipeline, makes thumbnails of 50 pictures, and closes it.
private func usePipeline(_ origin: Origin, _ isolation: DecodeIsolation) async throws {
  let directory = try TemporaryDirectory()
  try await makeThumbnails(try pipeline(in: directory, isolation), origin, numbers: 0..<50)
}

private func pipeline(in directory: TemporaryDirectory, _ isolation: DecodeIsolation) throws -> ThumbnailPipeline {
  var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
  configuration.proxy = .none
  configuration.jobs = 2
  configuration.isolation = isolation
  return try ThumbnailPipeline(configuration)
}

private func makeThumbnails(_ pipeline: ThumbnailPipeline, _ origin: Origin, numbers: Range<Int>) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for number in numbers {
      group.addTask {
        let request = ThumbnailRequest(origin.url("/\(number).jpg"), size: PixelSize(40, 30))
        _ = try await pipeline.thumbnail(for: request)
      }
    }
    try await group.waitForAll()
  }
  await pipeline.flush()
}

/// The open files, the library's threads and the children of this process.
private struct HeldResources: Equatable, CustomStringConvertible {
  /// What the descriptors lead to, without the numbers of sockets and pipes.
  let descriptors: [String]
  /// The names of the library's threads: `thumbnailer.codec`, `thumbnail-curl`.
  let threads: [String]
  let children: [String]

  init() {
    let files = FileManager.default
    descriptors = Self.names(in: "/proc/self/fd").compactMap { name in
      // The folder's own descriptor is gone by now.
      (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")).map { String($0.prefix { $0 != "[" }) }
    }.sorted()
    threads = Self.names(in: "/proc/self/task").compactMap { Self.text("/proc/self/task/\($0)/comm") }
      .filter { $0.hasPrefix("thumbnail") }.sorted()
    children = Self.names(in: "/proc/self/task").compactMap { Self.text("/proc/self/task/\($0)/children") }
      .filter { !$0.isEmpty }.sorted()
  }

  /// The open files that have names. Connections come and go while a pipeline is open.
  var files: [String] { descriptors.filter { $0.hasPrefix("/") } }

  /// Whether no pipeline has anything open.
  var isAtRest: Bool { children.isEmpty && !files.contains { $0.contains("/thumbnails-v2") } }

  func isAtMost(_ other: HeldResources) -> Bool {
    isAtRest && descriptors.count <= other.descriptors.count && threads.count <= other.threads.count
  }

  var description: String { "descriptors \(descriptors), threads \(threads), children \(children)" }

  private static func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  private static func text(_ path: String) -> String? {
    (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
