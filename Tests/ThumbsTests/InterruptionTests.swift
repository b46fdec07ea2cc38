/// Runs that are stopped half-way, and what the next one finds.
@Suite(.serialized, .timeLimit(.minutes(5))) struct InterruptionTests {
  private let bench: Bench
  private let gate = Gate()
  private let origin: Origin
  private let list: Data
  private static let done = ["/1.jpg", "/2.jpg", "/3.jpg"]
  private static let held = ["/4.jpg", "/5.jpg", "/6.jpg"]

  init() throws {
    bench = try Bench()
    let gate = gate
    origin = try Origin { request in
      let answer = OriginResponse.picture
      return Self.held.contains(request.path) ? answer.held(by: gate) : answer
    }
    let origin = origin
    list = Data((Self.done + Self.held).map { "\(origin.url($0))\n" }.joined().utf8)
  }

  /// Starts a run and waits until half of it is done and the rest hangs.
  private func halfDone() async throws -> ThumbsProcess {
    let process = try bench.start(["prefetch", "--urls", "-", "--json"], input: .bytes(list))
    let isDone = await process.comes { printed, _ in printed.split(separator: "\n").count == Self.done.count }
    // Real time: a server has no event for its test.
    let isHalfDone = await eventually { Self.held.allSatisfy { !origin.requests(for: $0).isEmpty } }
    #expect(isDone && isHalfDone, "\(process.printed)\(process.said)")
    return process
  }

  private func secondRun() async throws -> Run {
    gate.open()
    return try await bench.run("prefetch", "--urls", "-", "--json", input: .bytes(list))
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func aSignalKeepsWhatIsDoneAndTheNextRunDoesOnlyTheRest(signal: Int32, status: Int32) async throws {
    let process = try await halfDone()
    process.send(signal)
    let first = await process.run()
    #expect(first.status == status)
    #expect(first.complaints == ["thumbs: stopped; what is done is kept, and the same command does the rest"])
    let summary = try first.summary()
    #expect(summary.pictures == 3 && summary.stored == 3 && summary.failed == 0)
    // Real time: a server has no event for its test.
    #expect(await eventually { origin.openConnections == 0 })

    let second = try await secondRun()
    #expect(second.status == 0, "\(second.stderr)")
    #expect(try second.summary().hits == 3)
    #expect(try second.summary().stored == 3)
    for path in Self.done { #expect(origin.requests(for: path).count == 1) }
  }

  @Test func aQuestionEndsAtTheFirstSignal() async throws {
    let folder = try bench.folder("photos", pictures: 2)
    #expect(try await bench.run("convert", "photos", "--output", "small").status == 0)
    try FileManager.default.removeItem(at: folder.appendingPathComponent("picture 0.jpg"))
    // It asks on terminals alone.
    let terminal = try #require(PseudoTerminal(columns: 80))
    defer { terminal.closeEnd() }
    let process = try bench.start(
      ["convert", "photos", "--output", "small", "--delete-orphans"], input: .descriptor(terminal.end))
    #expect(await process.comes { $1.contains("[y/N]") })
    process.send(SIGTERM)
    #expect(await process.result().status == 143)
    #expect(bench.isFile("small/picture 0.jpg"))
  }

  @Test func aKillInTheMiddleLeavesACacheThatGoesOn() async throws {
    let process = try await halfDone()
    // Real time: that something is stored is seen by looking.
    let isStored = try await eventually {
      try await bench.run("cache", "stats", "--json").lines.first?.contains("\"thumbnails\":3,") == true
    }
    #expect(isStored)
    process.send(SIGKILL)
    #expect(await process.run().status == 128 + SIGKILL)

    let second = try await secondRun()
    #expect(second.status == 0 && second.stderr.isEmpty, "\(second.stderr)")
    #expect(try second.summary().hits == 3)
    #expect(try second.summary().stored == 3)
  }

  @Test func aKillAtAnyMomentLeavesAValidCache() async throws {
    _ = try bench.folder("pictures", pictures: 60)
    let command = ["prefetch", "--query", "", "--provider", "folder:pictures", "--json"]
    for lines in [1, 7, 30] {
      let process = try bench.start(command + ["--cache-dir", "cache-\(lines)"])
      _ = await process.comes { printed, _ in printed.split(separator: "\n").count >= lines }
      process.send(SIGKILL)
      _ = await process.run()
      let next = try await bench.run(command + ["--cache-dir", "cache-\(lines)"])
      #expect(next.status == 0 && next.stderr.isEmpty, "\(next.stderr)")
      let summary = try next.summary()
      #expect(summary.pictures == 60 && summary.failed == 0 && summary.hits + summary.stored == 60)
    }
  }

  @Test func getIsStoppedByCtrlC() async throws {
    let process = try bench.start(["get", "\(origin.url("/4.jpg"))", "--output", "small.jpg"])
    // Real time: a server has no event for its test.
    #expect(await eventually { !origin.requests(for: "/4.jpg").isEmpty })
    process.send(SIGINT)
    let run = await process.run()
    #expect(run.status == 130 && run.stdout.isEmpty && run.stderr.isEmpty, "\(run.stderr)")
    #expect(!FileManager.default.fileExists(atPath: bench.url("small.jpg").path))
  }
}

/// Downloads that a run could not finish.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ResumedRunTests {
  @Test(arguments: [SIGINT, SIGKILL]) func theNextRunGoesOnWithALargeDownload(signal: Int32) async throws {
    let bench = try Bench()
    // A picture and, behind its end, two megabytes that decoders leave alone.
    let body = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg")) + [UInt8](repeating: 7, count: 2 << 20)
    let origin = try Origin { request in
      let start = request.value(of: "Range").flatMap { Int($0.dropFirst(6).dropLast()) }
      let part =
        start.map {
          OriginResponse(
            status: 206, headers: [("Content-Range", "bytes \($0)-\(body.count - 1)/\(body.count)")],
            body: Array(body[$0...]))
        } ?? .ok(body).header("Accept-Ranges", "bytes").stalling(after: 1_200_000)
      return part.header("ETag", "\"a\"")
    }
    let arguments = ["get", "\(origin.url("/a.jpg"))", "-o", "a.jpg"]
    let first = try bench.start(arguments)
    let partial = bench.cache.appendingPathComponent("partial")
    // The label, without which the bytes are of no use, is written meanwhile by another thread, perhaps later.
    // Real time: what the command writes is seen by looking.
    #expect(
      await eventually {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: partial.path)) ?? []
        let sizes = names.map { name in
          (try? FileManager.default.attributesOfItem(atPath: "\(partial.path)/\(name)"))?[.size] as? Int
        }
        let hasLabel = names.contains { name in
          let label = FileManager.default.contents(atPath: "\(partial.path)/\(name)") ?? Data()
          return name.hasSuffix(".json") && (try? JSONSerialization.jsonObject(with: label)) != nil
        }
        return hasLabel && sizes.contains(1_200_000)
      })
    first.send(signal)
    _ = await first.run()

    let second = try await bench.run(arguments)
    #expect(second.status == 0, "\(second.stderr)")
    #expect(origin.requests.map { $0.request.value(of: "Range") } == [nil, "bytes=1200000-"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: partial.path).isEmpty)
  }
}
