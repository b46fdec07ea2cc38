@testable import thumbs

/// `thumbs worker`: what comes of lines, good and bad.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WorkerCommandTests {
  private let bench: Bench
  private let picture: String

  init() throws {
    bench = try Bench()
    picture = TestImages.url("formats/jpeg-420.jpg").path
  }

  private func worker(_ arguments: String..., lines: [String]) async throws -> WorkerResponses {
    try await worker(arguments, input: Data(lines.map { $0 + "\n" }.joined().utf8))
  }

  private func worker(_ arguments: [String], input: Data) async throws -> WorkerResponses {
    try WorkerResponses(await bench.run(["worker"] + arguments, input: .bytes(input)))
  }

  @Test func eachBadLineIsAnsweredAndTheRestGoesOn() async throws {
    let good = #"{"id":"good","path":"\#(picture)"}"#
    let cases: [(line: [UInt8], expected: String)] = [
      (Array("half a line".utf8), "invalid-line"), ([0], "invalid-line"),
      (Array(repeating: UInt8(ascii: "x"), count: 10 << 20), "line-too-long"),
      (Array(#"{"path":"\#(picture)","key":"../../x"}"#.utf8), "invalid-key"), (Array("{}".utf8), "invalid-request"),
      (Array(#"{"path":"gone.jpg"}"#.utf8), "not-found"), (Array(#"{"path":"/"}"#.utf8), "refused"),
      (Array(#"{"base64":"!"}"#.utf8), "invalid-request"), (Array(#"{"base64":""}"#.utf8), "invalid-request"),
      (Array(#"{"base64":"aGVsbG8gd29ybGQ="}"#.utf8), "not-a-picture"),
      (Array(#"{"url":"file://\#(picture)"}"#.utf8), "unsupported-source"),
      (Array(#"{"url":"ftp://e.org/a.jpg"}"#.utf8), "unsupported-source"), (Array("".utf8), "blank-line"),
    ]
    var input = Data()
    for (line, _) in cases { input += Data(line) + Data("\n\(good)\n".utf8) }
    let responses = try await worker(["--output", "small", "--size", "64"], input: input)
    #expect(responses.run.status == 0 && responses.run.stderr.isEmpty, "\(responses.run.stderr)")
    #expect(responses.lines.count == 2 * cases.count)
    for (index, (_, expected)) in cases.enumerated() {
      let bad = try #require(responses[2 * index + 1])
      #expect(bad.error?.code == expected, "line \(2 * index + 1)")
      #expect(bad.status == (expected == "blank-line" ? "skipped" : "failed"))
      #expect(responses[2 * index + 2]?.status == "ok" && responses[2 * index + 2]?.id == "\"good\"")
    }
    let entries = try FileManager.default.contentsOfDirectory(atPath: bench.directory.path)
    #expect(Set(entries).isSubset(of: ["small", "cache", "home", "xdg"]), "\(entries)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.url("small").path).count == cases.count)
  }

  @Test(arguments: [(["--public-addresses-only"], false), ([], true)])
  func strangersListsAreNotReadWithTheUsersKeys(words: [String], hasKeys: Bool) throws {
    let keys = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"]
    let configuration = try SecretVariables.$values.withValue(keys) {
      try WorkerCommand.parse(["--size", "64"] + words).pipelineConfiguration()
    }
    #expect((configuration.objectStorage != nil) == hasKeys)
  }

  @Test func aResponseSaysWhatItsServerSaid() async throws {
    let origin = try Origin { request in
      switch request.path {
      case "/gone": .status(404)
      case "/broken": .status(500)
      case "/secret" where request.value(of: "Authorization") != "Bearer x": .status(401)
      default: .picture
      }
    }
    let responses = try await worker(
      "--size", "64",
      lines: [
        "\(origin.url("/a.jpg"))", "{\"url\":\"\(origin.url("/gone"))\"}",
        "{\"url\":\"\(origin.url("/secret"))\",\"headers\":{\"Authorization\":\"Bearer x\"}}",
        "\(origin.url("/secret"))",
        "http://name:password@127.0.0.1:\(try #require(origin.url("/").port))/b.jpg", "\(origin.url("/broken"))",
      ])
    #expect(responses.run.status == 0, "\(responses.run.stderr)")
    #expect(responses[1]?.http == .init(status: 200, attempts: 1) && responses[1]?.thumbnails.first?.origin == "source")
    #expect(
      responses[1]?.stages.keys.contains("download") == true && responses[1]?.stages.keys.contains("decode") == true)
    #expect(responses[2]?.error?.code == "not-found" && responses[2]?.http == .init(status: 404, attempts: 1))
    #expect(responses[2]?.error?.retry == false && responses[2]?.error?.stage == "download")
    #expect(responses[3]?.status == "ok")
    #expect(responses[4]?.error?.code == "refused" && responses[4]?.http?.status == 401)
    #expect(responses[5]?.url?.contains("password") == false)
    #expect(responses[6]?.error?.code == "server-failed" && responses[6]?.error?.retry == true)
    #expect(responses[6]?.http?.status == 500 && responses[6]?.http?.attempts ?? 0 > 1)

    let again = try await worker("--size", "64", lines: ["\(origin.url("/a.jpg"))", "\(origin.url("/gone"))"])
    #expect(again[1]?.thumbnails.first?.origin == "disk" && again[1]?.http == nil)
    #expect(again[2]?.error?.code == "not-found" && again[2]?.http == nil)
  }

  @Test func anImageWhoseServerForbidsItsUseIsRefused() async throws {
    let bytes = try TestImages.bytes("formats/jpeg-420.jpg")
    let origin = try Origin { request in
      OriginResponse(
        status: 200, headers: request.path == "/free" ? [] : [("X-Robots-Tag", "noindex, NoAI")], body: Array(bytes))
    }
    let lines = ["\(origin.url("/free"))", "\(origin.url("/kept"))"]
    let responses = try await worker("--disallowed-header-directives", "noai, noimageai", lines: lines)
    #expect(responses[1]?.status == "ok")
    #expect(responses[2]?.error?.code == "opted-out" && responses[2]?.error?.retry == false)
    #expect(responses[2]?.error?.message.contains("X-Robots-Tag: noai") == true)
    #expect(try await worker(lines: lines)[2]?.status == "ok")
  }

  @Test func theWholeFileComesWithTheThumbnailWhenAsked() async throws {
    let text = Array("User-agent: *".utf8)
    let origin = try Origin { $0.path == "/robots.txt" ? OriginResponse(status: 200, body: text) : .picture }
    let lines = ["\(origin.url("/a.jpg"))", "\(origin.url("/robots.txt"))"]
    let plain = try await worker("--inline", "--size", "64", "--disk-cache", "0", lines: lines)
    let whole = try await worker("--inline", "--originals", "--size", "64", "--disk-cache", "0", lines: lines)
    let picture = try #require(whole[1]?.original.flatMap { Data(base64Encoded: $0) })
    #expect(picture == (try TestImages.bytes("formats/jpeg-420.jpg")))
    #expect(whole[1]?.thumbnails.first?.sha256 == plain[1]?.thumbnails.first?.sha256 && plain[1]?.original == nil)
    #expect(whole[1]?.http == .init(status: 200, attempts: 1) && whole[1]?.stages["download"] != nil)
    // What is no picture is there, too.
    #expect(whole[2]?.error?.code == "not-a-picture" && whole[2]?.original == Data(text).base64EncodedString())
  }

  @Test func eachOutputHoldsTheSameBytes() async throws {
    let base64 = try TestImages.bytes("formats/jpeg-420.jpg").base64EncodedString()
    let lines = [
      #"{"path":"\#(picture)","sizes":[64,"32x"],"caption":"a \"lake\"","json":{"n":[1],"width":1}}"#,
      #"{"base64":"\#(base64)","key":"cats/b","format":"webp"}"#,
    ]
    let inline = try await worker("--inline", "--size", "48", lines: lines)
    let files = try await worker("--output", "small", "--size", "48", lines: lines)
    let tar = try await worker("--tar", "shards", "--size", "48", lines: lines)
    let names = ["000000000.64x64.jpg", "000000000.32x.jpg", "cats/b.webp"]
    try bench.unpack("shards/00000.tar", into: "unpacked")
    for (index, name) in names.enumerated() {
      let (line, position) = (index == 2 ? 2 : 1, index == 2 ? 0 : index)
      let inlined = try #require(inline[line]?.thumbnails[position])
      let data = try #require(inlined.data.flatMap { Data(base64Encoded: $0) })
      #expect(data == (try Data(contentsOf: bench.url("small/\(name)"))))
      #expect(data == (try Data(contentsOf: bench.url("unpacked/\(name)"))))
      #expect(data.count == inlined.bytes && inlined.path == nil)
      for responses in [files, tar] {
        #expect(responses[line]?.thumbnails[position].path == name)
        #expect(responses[line]?.thumbnails[position].sha256 == inlined.sha256)
        #expect(responses[line]?.thumbnails[position].data == nil)
      }
    }
    #expect(tar[1]?.shard == "00000.tar" && tar.shards.map(\.samples) == [2])
    #expect(try String(contentsOf: bench.url("unpacked/000000000.txt"), encoding: .utf8) == "a \"lake\"")
    let description = try JSONDecoder().decode(
      Sidecar.self, from: Data(contentsOf: bench.url("unpacked/000000000.json")))
    #expect(description == Sidecar(n: [1], key: "000000000", status: "success", width: 64, original_width: 160))
    #expect(Set(try bench.files("small").keys) == Set(names))
  }

  private struct Sidecar: Decodable, Equatable {
    let n: [Int]
    let key, status: String
    let width, original_width: Int
  }

  @Test func filesAreRefusedWhereTheyMayNotBeNamed() async throws {
    let responses = try await worker("--no-paths", lines: [#"{"path":"\#(picture)"}"#])
    #expect(responses[1]?.error?.code == "paths-refused" && responses.run.status == 0)
  }

  @Test func tooManyFailuresEndItWithThree() async throws {
    let lines = (0..<200).map { _ in #"{"path":"gone.jpg"}"# }
    let some = try await worker("--max-failures", "1000", lines: lines)
    #expect(some.run.status == 0 && some.lines.count == 200)
    let few = try await worker("--max-failures", "10", lines: lines)
    #expect(few.run.status == 3 && few.run.complaints.count == 1 && few.run.stderr.contains("--max-failures"))
    #expect(few.lines.filter { $0.status == "failed" }.count > 10)
    let part = try await worker("--max-failures", "50%", lines: Array(lines.prefix(3)))
    #expect(part.run.status == 3 && part.lines.count == 3)
  }

  @Test func aLineWhoseSecondFileIsInTheWayWritesNone() async throws {
    _ = try bench.folder("out")
    try Data("somebody's".utf8).write(to: bench.url("out/k.20x20.jpg"))
    let picture = TestImages.url("formats/jpeg-420.jpg").path
    let run = try await bench.run(
      "worker", "--output", "out", input: .bytes(Data(#"{"path":"\#(picture)","sizes":[30,20],"key":"k"}"#.utf8)))
    #expect(run.lines.first?.contains(#""code":"in-the-way""#) == true, "\(run.lines)")
    #expect(try bench.files("out") == ["k.20x20.jpg": Data("somebody's".utf8)])
  }

  @Test func whatCannotBeReadOrWrittenIsSaid() async throws {
    let folder = open(bench.directory.path, O_RDONLY | O_CLOEXEC)
    defer { close(folder) }
    let unreadable = await (try bench.start(["worker"], input: .descriptor(folder))).run()
    #expect(unreadable.status == 69 && unreadable.complaints.count == 1, "\(unreadable.stderr)")
    let unwritable = try await bench.run("worker", "--tar", "/dev/null/shards")
    #expect(unwritable.status == 73 && unwritable.stderr.contains("/dev/null/shards"), "\(unwritable.stderr)")
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let process = try bench.start(["worker"], input: .bytes(Data("x\n".utf8)), stdout: .descriptor(full))
    let run = await process.run()
    #expect(run.status == 73 && run.stderr.contains("stdout cannot be written"), "\(run.stderr)")
  }
}
