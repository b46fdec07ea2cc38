/// Both pipes of `thumbs worker`: readers that are slow, stop or leave, and signals.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WorkerPipeTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  @Test func itReadsNoFasterThanItsResponsesAreRead() async throws {
    // Given a worker with little memory, whose lines come as fast as it takes them
    let (total, slack) = (2500, 1000)
    let (input, responses) = (makePipe(), try NarrowPipe())
    let process = try bench.start(
      ["worker", "--memory-budget", "16MiB"], input: .descriptor(input.read),
      stdout: .descriptor(responses.writeEnd))
    close(input.read)
    responses.closeWriteEnd()
    let written = Counter()
    let caption = String(repeating: "c", count: 1000)
    let lines = ["{\"path\":\"gone.jpg\",\"caption\":\"\(caption)\"}\n", "\(caption)\n"].map { Array($0.utf8) }
    Thread.detachNewThread {
      for number in 0..<total {
        _ = lines[number % 2].withUnsafeBytes { write(input.write, $0.baseAddress, $0.count) }
        written.increment()
      }
      close(input.write)
    }
    // When its responses are read one by one, then it is never further ahead than its memory and the pipes have room for
    for count in stride(from: 1, through: total, by: 50) {
      responses.read(lines: count)
      #expect(written.value <= count + slack, "after \(count) responses")
    }
    let text = String(decoding: responses.read(), as: UTF8.self)
    #expect(text.split(separator: "\n").count == total)
    #expect(await process.run().status == 0)
  }

  @Test func aReaderThatLeavesEndsItQuietly() async throws {
    let (input, output) = (makePipe(), makePipe())
    let process = try bench.start(["worker"], input: .descriptor(input.read), stdout: .descriptor(output.write))
    close(input.read)
    close(output.write)
    close(output.read)
    // Its stdin stays open: it ends all the same.
    _ = Array("x\ny\n".utf8).withUnsafeBytes { write(input.write, $0.baseAddress, $0.count) }
    let run = await process.run()
    #expect(run.status == 73 && run.stderr.isEmpty, "\(run.stderr)")
    close(input.write)
  }

  @Test func aReaderThatLeavesEndsItWhileItWaitsForAServer() async throws {
    let gate = Gate()
    let origin = try Origin { _ in .picture.held(by: gate) }
    let (input, output) = (makePipe(), makePipe())
    let process = try bench.start(
      ["worker", "--timeout", "3600"], input: .descriptor(input.read), stdout: .descriptor(output.write))
    close(input.read)
    close(output.write)
    let line = Array("\(origin.url("/1.jpg"))\n".utf8)
    _ = line.withUnsafeBytes { write(input.write, $0.baseAddress, $0.count) }
    close(input.write)
    // Real time: a server has no event for its test.
    #expect(await eventually { origin.requests.count == 1 })
    // All lines are read, and there is nothing to write that could fail.
    close(output.read)
    #expect(await process.run().status == 73)
    gate.open()
  }

  @Test(arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(Int32, Int32)])
  func aSignalFinishesWhatWasBegunAndReadsNoMore(signal: Int32, status: Int32) async throws {
    let gate = Gate()
    let origin = try Origin { _ in .picture.held(by: gate) }
    let input = makePipe()
    let process = try bench.start(["worker", "--tar", "shards"], input: .descriptor(input.read))
    close(input.read)
    let lines = Data((0..<3).map { "\(origin.url("/\($0).jpg"))\n" }.joined().utf8)
    _ = lines.withUnsafeBytes { write(input.write, $0.baseAddress, $0.count) }
    // Real time: a server has no event for its test.
    #expect(await eventually { origin.requests.count == 3 })
    process.send(signal)
    // Real time: only the system's own files show that a signal was taken.
    #expect(await eventually { process.hasTakenSignals })
    gate.open()
    // Its stdin stays open.
    let responses = try WorkerResponses(await process.run())
    close(input.write)
    #expect(responses.run.status == status && responses.run.complaints.count == 1, "\(responses.run.stderr)")
    #expect(responses.lines.map(\.status) == ["ok", "ok", "ok"])
    #expect(responses.shards.map(\.samples) == [3] && bench.isFile("shards/00000.tar"))
  }

  /// What nobody has read of a pipe, by either end.
  private static func unreadBytes(_ end: Int32) -> Int32 {
    var count: Int32 = 0
    return ioctl(end, UInt(FIONREAD), &count) == 0 ? count : -1
  }

  @Test func aReaderThatStopsDoesNotHoldUpItsEnd() async throws {
    let (input, responses) = (makePipe(), try NarrowPipe())
    let process = try bench.start(
      ["worker"], input: .descriptor(input.read), stdout: .descriptor(responses.writeEnd))
    close(input.read)
    responses.closeWriteEnd()
    let line = Array((String(repeating: "c", count: 1000) + "\n").utf8)
    // Several times as much as is read at once: when all is read, most has been responded to, with more than the pipe of
    // the responses holds.
    for _ in 0..<400 { _ = line.withUnsafeBytes { write(input.write, $0.baseAddress, $0.count) } }
    // Real time: a pipe has no event for who writes to it.
    #expect(await eventually { Self.unreadBytes(input.write) == 0 })
    process.send(SIGTERM)
    let run = await process.run()
    close(input.write)
    #expect(run.status == 143 && run.complaints.count == 1, "\(run.stderr)")
    #expect(run.stderr.contains("the last answers were not read"))
  }

  @Test func responsesComeAsSoonAsTheyAreKnown() async throws {
    let gate = Gate()
    let origin = try Origin { request in
      let response = OriginResponse.picture
      return request.path == "/held" ? response.held(by: gate) : response
    }
    let input = makePipe()
    let process = try bench.start(["worker", "--inline"], input: .descriptor(input.read))
    close(input.read)
    func send(_ path: String) {
      _ = Array("\(origin.url(path))\n".utf8).withUnsafeBytes { write(input.write, $0.baseAddress, $0.count) }
    }
    // A line that is held back holds back no other, and each is responded to while stdin stays open.
    send("/held")
    for number in 1...3 {
      send("/\(number)")
      let hasResponse = await process.comes { printed, _ in printed.split(separator: "\n").count == number }
      #expect(hasResponse, "\(process.said)")
    }
    gate.open()
    #expect(await process.comes { printed, _ in printed.split(separator: "\n").count == 4 })
    close(input.write)
    #expect(try WorkerResponses(await process.run()).run.status == 0)
  }
}
