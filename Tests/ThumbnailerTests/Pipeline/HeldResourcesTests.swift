@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import Thumbnailer

/// What pipelines hold of the system besides memory, in processes of their own: other tests open files, too.
@Suite(.timeLimit(.minutes(5))) struct HeldResourcesTests {
  @Test func closedPipelinesLeaveNoFileNoThreadAndNoHelper() async {
    await #expect(processExitsWith: .success) {
      let origin = try Origin.picture()
      // Its socket, and what the process has from its parent.
      let first = HeldResources()
      // The first ones start what lasts as long as the process: libraries, and the runtime's threads.
      for isolation in [DecodeIsolation.inProcess, DecodeIsolation()] { try await usePipeline(origin, isolation) }
      // What is closed is so a moment later.
      let before = await HeldResources.once { $0.isAtRest(since: first) }
      #expect(before.isAtRest(since: first), "first: \(first); before: \(before)")
      for _ in 0..<2 {
        for isolation in [DecodeIsolation.inProcess, DecodeIsolation()] { try await usePipeline(origin, isolation) }
      }
      let isClosed = { (now: HeldResources) in
        now.isAtRest(since: first) && now.descriptors.count <= before.descriptors.count
      }
      let after = await HeldResources.once(isClosed)
      #expect(isClosed(after), "before: \(before); after: \(after)")
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
      let isTheSame = { (now: HeldResources) in
        now.files == before.files && now.children.count <= before.children.count
      }
      let after = await HeldResources.once(isTheSame)
      #expect(isTheSame(after), "before: \(before); after: \(after)")
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
private struct HeldResources: CustomStringConvertible {
  /// What the descriptors lead to, without the numbers of sockets and pipes, and without timers: the runtime opens one at the
  /// first sleep that is not over before it begins, at any time on a busy machine, and keeps it.
  let descriptors: [String]
  /// The names of the library's threads: `thumbnailer.codec`, `thumbnail-curl`. The first thread has that of the program.
  let threads: [String]
  let children: [String]

  init() {
    let files = FileManager.default
    descriptors = Self.names(in: "/proc/self/fd").compactMap { name in
      // The folder's own descriptor is gone by now.
      try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
    }.filter { $0 != "anon_inode:[timerfd]" }.map { String($0.prefix { $0 != "[" }) }.sorted()
    threads = Self.names(in: "/proc/self/task").compactMap { Self.text("/proc/self/task/\($0)/comm") }
      .filter { $0.hasPrefix("thumbnailer.") || $0.hasPrefix("thumbnail-") }.sorted()
    children = Self.names(in: "/proc/self/task").compactMap { Self.text("/proc/self/task/\($0)/children") }
      .flatMap { $0.split(separator: " ").map(String.init) }.sorted()
  }

  /// What is held as soon as that suffices, or when it has not for long.
  static func once(_ suffices: (HeldResources) -> Bool) async -> HeldResources {
    var held = HeldResources()
    _ = await eventually {
      held = HeldResources()
      return suffices(held)
    }
    return held
  }

  /// The open files that have names. Connections come and go while a pipeline is open.
  var files: [String] { descriptors.filter { $0.hasPrefix("/") } }

  /// Whether no pipeline has anything open, as before the first one.
  func isAtRest(since first: HeldResources) -> Bool {
    children.isEmpty && threads.isEmpty && !files.contains { $0.contains("/thumbnails-v2") }
      && sockets <= first.sockets
  }

  private var sockets: Int { descriptors.count { $0 == "socket:" } }

  var description: String { "descriptors \(descriptors), threads \(threads), children \(children)" }

  private static func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  private static func text(_ path: String) -> String? {
    (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
