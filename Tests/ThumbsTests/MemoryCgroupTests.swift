/// A real container's memory limit: `MemoryBudgetTests` has what is computed from it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MemoryCgroupTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  @Test(.enabled(if: MemoryCgroup.isAvailable, "limiting memory needs root and a memory cgroup"), arguments: [64, 128])
  func aFolderIsConvertedWithinTheLimitOfItsContainer(mebibytes: Int) async throws {
    let group = try #require(MemoryCgroup(mebibytes: mebibytes))
    let run = try await bench.start(
      ["convert", TestImages.url("gallery").path, "--size", "800", "--output", "small", "--json"],
      launcher: group.launcher
    ).run()
    #expect(run.status == 0, "\(run.stderr)")
    let summary = try #require(run.lines.last)
    #expect(summary.contains(#""failed":0"#) && !summary.contains(#""converted":0"#), "\(summary)")
    #expect(group.killed == 0)
  }
}

/// A control group with a memory limit, version 1 or 2, as long as it lives.
final class MemoryCgroup {
  private let path: String
  private let events: String

  /// Whether this process may make one.
  static let isAvailable = MemoryCgroup(mebibytes: 1024) != nil

  /// Nil when that is not allowed.
  init?(mebibytes: Int) {
    let isFirst = FileManager.default.fileExists(atPath: "/sys/fs/cgroup/memory/cgroup.procs")
    path = "/sys/fs/cgroup\(isFirst ? "/memory" : "")/thumbs-test-\(UUID())"
    events = path + (isFirst ? "/memory.oom_control" : "/memory.events")
    guard mkdir(path, 0o755) == 0 else { return nil }
    let limit = Data("\(mebibytes << 20)".utf8)
    guard let file = FileHandle(forWritingAtPath: path + (isFirst ? "/memory.limit_in_bytes" : "/memory.max")) else {
      return nil
    }
    do { try file.write(contentsOf: limit) } catch { return nil }
  }

  deinit { rmdir(path) }

  /// Starts a program in it.
  var launcher: [String] { ["/bin/sh", "-c", "echo $$ >'\(path)/cgroup.procs' && exec \"$@\"", "sh"] }

  /// How many processes the kernel has killed since they exceeded the limit; nil if it does not say.
  var killed: Int? {
    let lines = (try? String(contentsOfFile: events, encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.first { $0.hasPrefix("oom_kill ") }.flatMap { Int($0.dropFirst("oom_kill ".count)) }
  }
}
