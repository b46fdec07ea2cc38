/// The progress line, on a terminal of the test's own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProgressTests {
  private let bench: Bench
  private let gate = Gate()
  private let origin: Origin
  private let list: Data
  private static let count = 40

  init() throws {
    bench = try Bench()
    let gate = gate
    origin = try Origin { request in
      switch request.path {
      case "/0.jpg": .picture
      case "/1.jpg": .status(404)
      default: .picture.held(by: gate)
      }
    }
    let origin = origin
    list = Data((0..<Self.count).map { "\(origin.url("/\($0).jpg"))\n" }.joined().utf8)
  }

  @Test(arguments: [[], ["--json"]]) func isDrawnAtMostTenTimesASecondAndGoneWhenDone(flags: [String]) async throws {
    let terminal = try #require(PseudoTerminal(columns: 100))
    // Real time: how often the line is drawn in a second; a slow machine draws it less often.
    let started = ContinuousClock.now
    let process = try bench.start(
      ["prefetch", "--urls", "-", "--count", "\(Self.count)", "--downloads", "40", "--per-host", "40"] + flags,
      input: .bytes(list),
      stderr: .descriptor(terminal.end))
    terminal.closeEnd()
    // Held back until it has been drawn a few times
    #expect(
      await eventually {
        terminal.draws.count >= 15 && terminal.text.contains("  2/40  1 failed  ")
      })
    gate.open()
    let run = await process.run()
    #expect(run.status == 1)
    #expect(await eventually { terminal.isAtEnd })

    // Counted from before the first: on a busy machine several may be read at once, long after they were drawn.
    let draws = terminal.draws
    let span = (draws.last ?? .now) - started
    #expect(Double(draws.count - 1) <= span / .seconds(1) * 10, "\(draws.count) in \(span)")
    let shown = terminal.text
    #expect(shown.contains("stdin  2/40  1 failed  "))
    // On a busy machine the host may count as silent before a time is estimated.
    #expect(shown.contains("/s  ") && shown.contains("memory "))
    #expect(shown.contains(" left") || shown.contains("  waiting for "))
    for frame in shown.split(separator: "\r") { #expect(frame.prefix { $0 != "\u{1B}" && $0 != "\n" }.count < 100) }
    // What stays on the screen are the lines that are no progress. On a busy machine the host may be left alone for long
    // silence.
    let lines = terminal.screen.split(separator: "\n").filter { !$0.contains(" is left alone for ") }
    #expect(
      lines == (flags.isEmpty ? ["thumbs: \(origin.url("/1.jpg")): the server has no such picture (status 404)"] : []))
  }

  @Test func saysWhichServerIsWaitedForOnceOnlySilentPicturesAreLeft() async throws {
    // Given two pictures whose server says nothing until the gate opens, the last one and one at the beginning
    let gate = gate
    let origin = try Origin { request in
      ["/2.jpg", "/39.jpg"].contains(request.path)
        ? .picture.held(by: gate) : .picture
    }
    let list = Data((0..<Self.count).map { "\(origin.url("/\($0).jpg"))\n" }.joined().utf8)
    let terminal = try #require(PseudoTerminal(columns: 120))
    let process = try bench.start(["prefetch", "--urls", "-"], input: .bytes(list), stderr: .descriptor(terminal.end))
    terminal.closeEnd()
    // Real time: a server is silent for as long as a clock says.
    let words = "  waiting for 2 from 127.0.0.1:\(origin.port)  "
    #expect(
      await eventually {
        terminal.text.split(separator: "\r").contains {
          $0.contains(words) && $0.contains("  38") && !$0.contains(" s left")
        }
      })
    gate.open()
    #expect(await process.run().status == 0)
    #expect(origin.requests.count == Self.count)
  }

  // Real time: the terminal comes to its end a moment after the process.
  @Test(arguments: ["--quiet", "--verbose"]) func isNotDrawnWith(flag: String) async throws {
    gate.open()
    let terminal = try #require(PseudoTerminal(columns: 80))
    let process = try bench.start(
      ["prefetch", "--urls", "-", flag], input: .bytes(list), stderr: .descriptor(terminal.end))
    terminal.closeEnd()
    #expect(await process.run().status == 1)
    #expect(await eventually { terminal.isAtEnd })
    #expect(terminal.draws.isEmpty && !terminal.text.contains("\u{1B}"))
  }
}

/// A terminal that nobody sees: what a process writes to its end is kept with the time it came.
final class PseudoTerminal: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var draws: [ContinuousClock.Instant] = []
    var isAtEnd = false
  }

  private let state = Mutex(State())
  /// The process's side.
  let end: Int32

  /// A terminal of that width. Nil where there is none to be had.
  init?(columns: UInt16) {
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard master >= 0 else { return nil }
    var unlocked: Int32 = 0
    var number: Int32 = 0
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    // TIOCSPTLCK and TIOCGPTN, which are macros that Swift does not see.
    guard ioctl(master, 0x4004_5431, &unlocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else { return nil }
    end = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard end >= 0, ioctl(master, UInt(TIOCSWINSZ), &size) == 0 else { return nil }
    Thread.detachNewThread { [weak self] in
      while true {
        let piece = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
          count = max(0, read(master, buffer.baseAddress, buffer.count))
        }
        guard !piece.isEmpty else { break }
        self?.take(piece)
      }
      close(master)
      self?.state.withLock { $0.isAtEnd = true }
    }
  }

  private func take(_ piece: [UInt8]) {
    let text = String(decoding: piece, as: UTF8.self)
    // A drawn line is a return, the line, and the order to empty the rest.
    let draws = text.split(separator: "\r").filter { $0.hasSuffix("\u{1B}[K") && $0.count > 3 }.count
    state.withLock {
      $0.bytes += piece
      // Real time: see the test.
      $0.draws += Array(repeating: ContinuousClock.now, count: draws)
    }
  }

  /// To be called when the process has its copy: at the process's end the terminal then comes to its own.
  func closeEnd() { close(end) }

  /// When the line was drawn.
  var draws: [ContinuousClock.Instant] { state.withLock { $0.draws } }
  /// Everything that was written.
  var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }
  /// Whether the process has let go.
  var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

  /// What a viewer sees in the end: of each line, what follows where it was last emptied.
  var screen: String {
    text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let isDrawn = line.hasSuffix("\u{1B}[K") && !line.hasSuffix("\r\u{1B}[K")
      return isDrawn ? String(line) : line.components(separatedBy: "\u{1B}[K").last ?? ""
    }.joined(separator: "\n")
  }
}
