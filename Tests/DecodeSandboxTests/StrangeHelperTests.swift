@testable import CodecTestSupport
@testable import DecodeSandbox
@testable import ImageCodec

/// Helpers that are none, or that lie: the pipeline believes nothing.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StrangeHelperTests {
  private let directory: TemporaryDirectory
  private static let picture = Array("P5\n4 2\n255\n12345678".utf8)

  init() throws { directory = try TemporaryDirectory() }

  /// A program that greets with the first of these bytes, and says that it has forked a helper. That one, which is itself,
  /// greets in the same way and writes the other pieces, each after it has got something to read.
  private func program(_ pieces: [UInt8]...) throws -> URL {
    let pythons: [String] = ["/usr/bin/python3", "/usr/local/bin/python3"]
    let python = try #require(pythons.first(where: { FileManager.default.isExecutableFile(atPath: $0) }))
    return try self.script(
      """
      #!\(python)
      import os, signal, socket
      pieces = \(pieces.map { "bytes(\($0))" })
      zygote = socket.socket(fileno=0)
      zygote.sendall(eval(pieces[0]))
      _, files, _, _ = socket.recv_fds(zygote, 8, 2)
      zygote.sendall((8).to_bytes(4, "big") + os.getpid().to_bytes(8, "little"))
      helper = socket.socket(fileno=files[0])
      helper.sendall(eval(pieces[0]))
      for piece in pieces[1:]:
          helper.recv(1)
          helper.sendall(eval(piece))
      signal.pause()
      """)
  }

  private func script(_ text: String) throws -> URL {
    let file = directory.url.appendingPathComponent("helper-\(UUID())")
    let source = file.appendingPathExtension("text")
    try Data(text.utf8).write(to: source)
    // Another process writes the program: what is open for writing here is so for a moment in every child that another
    // test starts, and such a program cannot be started ("Text file busy").
    let copy = Process()
    copy.executableURL = URL(fileURLWithPath: "/usr/bin/install")
    copy.arguments = ["-m", "755", source.path, file.path]
    try copy.run()
    copy.waitUntilExit()
    return file
  }

  private func failure(_ executable: URL, mostBytes: Int = 1 << 20) async throws -> CodecError? {
    let bench = HelperBench(executable)
    let variants = [Variant(size: PixelSize(40, 40), fit: .contain)]
    let result = try await bench.render(Self.picture, .pnm, variants, mostBytes: mostBytes)
    let failure = result.first?.failure
    if failure != nil { #expect(bench.pool.waiting.isEmpty) }
    return failure
  }

  private static let greeting = HelperMessage.encode(HelperGreeting())

  private static func answer(_ outcome: HelperResponse.Outcome..., size: PixelSize? = PixelSize(17, 13)) -> [UInt8] {
    HelperMessage.encode(HelperResponse(size: size, outcomes: outcome))
  }

  @Test(arguments: ["/no/such/program", "/dev/null", "/usr", "/etc/passwd"])
  func whatCannotBeStartedIsSaid(path: String) async throws {
    guard case .helperFailed(.cannotStart(let detail)) = try await failure(URL(fileURLWithPath: path)) else {
      Issue.record("\(path) should not start")
      return
    }
    #expect(detail.contains(path))
  }

  @Test(arguments: ["/bin/cat", "/bin/true", "/bin/false"])
  func anotherProgramIsNotTakenForAHelper(path: String) async throws {
    guard case .helperFailed(.cannotStart(let detail)) = try await failure(URL(fileURLWithPath: path)) else {
      Issue.record("\(path) should not pass")
      return
    }
    #expect(detail.contains("\(path) did not greet") && detail.contains("exit status"))
  }

  @Test func garbageForAGreetingIsNotTakenForOne() async throws {
    for text in ["Hello, world!\n", "\0\0\0\u{2}{}", "\0\0\0\u{10}{\"name\":\"other\"}", "\u{7f}\u{7f}\u{7f}\u{7f}"] {
      let error = try await failure(program(Array(text.utf8)))
      guard case .helperFailed(.cannotStart) = error else {
        Issue.record("\(text): \(error.map { "\($0)" } ?? "no failure")")
        continue
      }
    }
  }

  @Test func garbageForAnAnswerEndsTheHelper() async throws {
    let lies: [(String, [UInt8])] = [
      ("text", Array("Hello, world! I am no answer.".utf8)),
      ("endless", [0x7f, 0xff, 0xff, 0xff]),
      ("no message", [0, 0, 0, 4] + Array("{{{{".utf8)),
      ("no results", Self.answer()),
      ("two results", Self.answer(.failure(.empty), .failure(.empty))),
      ("a thumbnail too large", Self.answer(.pixels(.init(PixelSize(8, 1 << 40))))),
      ("less than nothing", Self.answer(.pixels(.init(PixelSize(8, -1))))),
      ("nobody cancelled", Self.answer(.failure(.cancelled))),
    ]
    for (name, lie) in lies {
      let error = try await failure(program(Self.greeting, lie))
      guard case .helperFailed(.nonsense) = error else {
        Issue.record("\(name): \(error.map { "\($0)" } ?? "no failure")")
        continue
      }
    }
  }

  @Test func onlyPixelsThatFitTheRequestAreTaken() async throws {
    let size = PixelSize(17, 13)
    let samples = [UInt8](repeating: 7, count: size.pixelCount)
    let honest = HelperResponse.Pixels(size)
    #expect(try await failure(program(Self.greeting, Self.answer(.pixels(honest)) + samples)) == nil)
    var (large, coloured) = (honest, honest)
    large.size = PixelSize(41, 13)
    (coloured.space, coloured.bands) = (.rgb, 2)
    let lies: [(HelperResponse.Pixels, PixelSize?)] = [
      (large, size), (coloured, size), (honest, PixelSize(8, 1)), (honest, nil), (honest, PixelSize(0, 1)),
      (honest, PixelSize(-5, -5)), (honest, PixelSize(65535, 65535)), (honest, PixelSize(1 << 62, 1 << 62)),
    ]
    for (index, (pixels, size)) in lies.enumerated() {
      let error = try await failure(program(Self.greeting, Self.answer(.pixels(pixels), size: size) + samples))
      guard case .helperFailed(.nonsense) = error else {
        Issue.record("lie \(index): \(error.map { "\($0)" } ?? "no failure")")
        continue
      }
    }
  }

  @Test func noDescriptorIsLeftBehind() async throws {
    let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    for _ in 0..<300 { _ = try await failure(URL(fileURLWithPath: "/bin/false")) }
    // Other tests run meanwhile, and their descriptors come and go; one for each failure would stay.
    try await poll {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < before + 100
    }
  }
}

extension HelperResponse.Pixels {
  /// Gray of a size.
  fileprivate init(_ size: PixelSize) { self.init(size: size, rasterSize: size, space: .gray, bands: 1) }
}
