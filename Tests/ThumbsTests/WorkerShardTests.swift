/// Shards of `thumbs worker`: the same bytes in every run, also after a kill, beside another worker and on a full disk.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WorkerShardTests {
  private let bench: Bench
  private static let count = 24
  private static let size = 10
  private static let shards = ["00000.tar", "00001.tar", "00002.tar"]

  init() throws { bench = try Bench() }

  /// Lines of different pictures, some of which are none.
  private func input() throws -> Data {
    let pictures = try ["formats/jpeg-420.jpg", "formats/png-rgb.png"].map { try TestImages.bytes($0) }
    let folder = try bench.folder("pictures")
    let lines = try (0..<Self.count).map { number in
      let path = folder.appendingPathComponent("\(number)").path
      if number % 3 < 2 { try pictures[number % 3].write(to: URL(fileURLWithPath: path)) }
      return #"{"id":\#(number),"path":"\#(path)","sizes":[\#(16 + number), 8]}"#
    }
    return Data(lines.map { $0 + "\n" }.joined().utf8)
  }

  private func arguments(_ folder: String, _ more: String...) -> [String] {
    ["worker", "--tar", folder, "--shard-size", "\(Self.size)", "--disk-cache", "0"] + more
  }

  private func bytes(of folder: String) throws -> [Data] {
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.url(folder).path).sorted() == Self.shards)
    return try Self.shards.map { try Data(contentsOf: bench.url("\(folder)/\($0)")) }
  }

  @Test func everyRunWritesTheSameBytes() async throws {
    let input = try input()
    let first = try WorkerResponses(await bench.run(arguments("a"), input: .bytes(input)))
    #expect(first.run.status == 0 && first.lines.count == Self.count, "\(first.run.stderr)")
    #expect(first.shards.map(\.path) == Self.shards && first.shards.allSatisfy { $0.status == "ok" })
    #expect(first.shards.map(\.lines) == [10, 10, 4])
    let samples = first.shards.map(\.samples).reduce(0, +)
    #expect(samples == first.lines.count { $0.status == "ok" })
    let expected = try bytes(of: "a")
    #expect(expected.map(\.count) == first.shards.map(\.bytes))

    // Also with other jobs, and by two workers at once in one folder
    let second = try await bench.run(arguments("b", "--jobs", "1"), input: .bytes(input))
    #expect(second.status == 0)
    #expect(try bytes(of: "b") == expected)
    let both = try [0, 1].map { _ in try bench.start(arguments("c"), input: .bytes(input)) }
    for process in both { #expect(await process.run().status == 0) }
    #expect(try bytes(of: "c") == expected)
  }

  @Test func aKillInTheMiddleLeavesWholeShardsAndTheNextRunTheSameBytes() async throws {
    let input = try input()
    _ = try await bench.run(arguments("a"), input: .bytes(input))
    let expected = try bytes(of: "a")
    // Given a worker whose stdin stays open in the middle of the second shard
    for wanted in [1, 11, 15] {
      let pipe = makePipe()
      let process = try bench.start(arguments("b\(wanted)"), input: .descriptor(pipe.read))
      close(pipe.read)
      let part = Data(input.split(separator: 0x0a).prefix(wanted).map { $0 + [0x0a] }.joined())
      _ = part.withUnsafeBytes { write(pipe.write, $0.baseAddress, $0.count) }
      let hasResponse = await process.comes { printed, _ in
        printed.split(separator: "\n").count >= wanted + wanted / Self.size
      }
      #expect(hasResponse, "\(process.said)")
      // When it is killed
      process.send(SIGKILL)
      #expect(await process.run().status == 128 + SIGKILL)
      close(pipe.write)
      // Then only whole shards have names, and the next run writes what an undisturbed one would
      let left = try FileManager.default.contentsOfDirectory(atPath: bench.url("b\(wanted)").path)
        .filter { $0.hasSuffix(".tar") }
      #expect(left == Array(Self.shards.prefix(wanted / Self.size)))
      let next = try await bench.run(arguments("b\(wanted)"), input: .bytes(input))
      #expect(next.status == 0)
      #expect(try Self.shards.map { try Data(contentsOf: bench.url("b\(wanted)/\($0)")) } == expected)
    }
  }

  @Test(.enabled(if: TinyDisk.isAvailable, "mounting needs root"))
  func onAFullDiskLinesFailAndEarlierSamplesAndShardsStay() async throws {
    let disk = try #require(TinyDisk(at: bench.url("disk"), kibibytes: 100))
    let picture = TestImages.url("formats/jpeg-420.jpg").path
    let lines = (0..<60).map { #"{"path":"\#(picture)","sizes":[\#(160 - $0)],"format":"png","key":"k\#($0)"}"# }
    let process = try bench.start(
      ["worker", "--tar", "disk", "--shard-size", "2", "--disk-cache", "0"],
      input: .bytes(Data(lines.map { $0 + "\n" }.joined().utf8)))
    let responses = try WorkerResponses(await process.run())
    let failed = responses.lines.filter { $0.status == "failed" }
    #expect(responses.lines.count == 60 && !failed.isEmpty && failed.count < 60)
    for response in failed {
      #expect(
        response.error?.code == "cannot-write" && response.error?.stage == "write" && response.error?.retry == true)
      #expect(response.error?.message.contains("No space left on device") == true)
    }
    // What was responded to with ok is in a shard that can be read.
    let whole = responses.shards.filter { $0.status == "ok" }
    #expect(!whole.isEmpty && responses.run.status == (whole.count == responses.shards.count ? 0 : 73))
    for shard in whole { try bench.unpack("disk/\(shard.path)", into: "unpacked") }
    for response in responses.lines where response.status == "ok" {
      #expect(bench.isFile("unpacked/\(response.thumbnails[0].path ?? "")"))
    }
    withExtendedLifetime(disk) {}
  }

  @Test func twoWorkersMayWriteTheSameFiles() async throws {
    let input = try input()
    let both = try [0, 1].map { _ in
      try bench.start(["worker", "--output", "small", "--disk-cache", "0"], input: .bytes(input))
    }
    for process in both { #expect(await process.run().status == 0) }
    let responses = try WorkerResponses(
      try await bench.run(["worker", "--inline", "--disk-cache", "0"], input: .bytes(input)))
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.url("small").path)
    #expect(names.count == 32 && !names.contains { $0.hasPrefix(".") })
    for response in responses.lines where response.status == "ok" {
      let key = try #require(response.key)
      for made in response.thumbnails {
        let data = try Data(contentsOf: bench.url("small/\(key).\(made.size).jpg"))
        #expect(data.base64EncodedString() == made.data)
      }
    }
  }
}
