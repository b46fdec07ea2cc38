@testable import CodecTestSupport
@testable import DecodeSandbox

/// What the command says and does where the kernel cannot confine helpers, and what it hides of itself.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ConfinementCommandTests {
  private let bench: Bench
  private let drawing = TestImages.url("formats/svg.svg").path

  init() throws { bench = try Bench() }

  /// Starts programs as on a kernel without a system call.
  private func kernel(without part: String) -> [String] {
    [HelperBench.executable.deletingLastPathComponent().appendingPathComponent("AttackHelper").path, "without", part]
  }

  @Test(arguments: [("seccomp", "seccomp"), ("landlock", "Landlock")])
  func whatTheKernelLacksIsSaidOnce(part: String, word: String) async throws {
    let run = try await bench.start(["get", drawing, "--output", "a.png"], launcher: kernel(without: part)).run()
    expectComplaint(run, 0, word)
    #expect(bench.isFile("a.png"))
  }

  @Test(arguments: [("seccomp", false), ("landlock", false), ("namespaces", true)])
  func suchAKernelIsRefusedOnRequestButNamespacesAreNotRequired(part: String, isServed: Bool) async throws {
    let run = try await bench.start(
      ["worker", "--require-confinement"], input: .bytes(Data("{\"path\":\"\(drawing)\"}\n".utf8)),
      launcher: kernel(without: part)
    ).run()
    guard isServed else { return expectComplaint(run, 64, "--require-confinement") }
    #expect(run.status == 0 && run.complaints.isEmpty, "\(run.stderr)")
    #expect(try WorkerResponses(run)[1]?.status == "ok")
  }

  @Test(arguments: [
    ("seccomp", "helpers may make any system call"), ("landlock", "helpers may read all"),
    ("namespaces", "helpers have no namespaces"),
  ])
  func theDoctorSaysWhatTheKernelLacks(part: String, words: String) async throws {
    let run = try await bench.start(["doctor"], launcher: kernel(without: part)).run()
    #expect(run.lines.contains { $0.hasPrefix("remark: \(words)") }, "\(run.lines)")
    #expect(run.lines.contains { $0.hasPrefix("helpers confined: ") })
  }

  @Test func aRunningCommandShowsNoKeys() async throws {
    let variables = [
      "UNSPLASH_ACCESS_KEY": "hunter2", "PEXELS_API_KEY": "hunter2", "THUMBS_CLIENT_KEY_PASSWORD": "hunter2",
      "THUMBS_PROXY": "http://ada:hunter2@127.0.0.1:1",
      "https_proxy": "http://ada:hunter2@127.0.0.1:1", "ALL_PROXY": "http://ada:hunter2@127.0.0.1:1",
    ]
    try Data(HelperBench.endless).write(to: bench.url("endless.svg"))
    let process = try bench.start(
      ["get", "endless.svg", "--output", "a.png"], environment: variables)
    let path = "/proc/\(process.pid)/environ"
    // The shell that starts it has the same number, and shows them.
    // Real time: only the system's own files show when it is hidden.
    let isHidden = await eventually {
      let bytes = FileManager.default.contents(atPath: path) ?? Data()
      return bytes.range(of: Data("PEXELS_API_KEY=".utf8)) != nil && bytes.range(of: Data("hunter2".utf8)) == nil
    }
    #expect(isHidden)
    process.send(SIGKILL)
    _ = await process.result()
  }

  /// The files in `/proc/PID` of a process that may not be inspected belong to root, who may always: so not as root.
  @Test func aRunningCommandMayNotBeInspected() async throws {
    let nobody: uid_t = 65_534
    let (user, launcher) =
      getuid() == 0
      ? (nobody, ["/usr/bin/setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"]) : (getuid(), [])
    chmod(bench.url(".").path, 0o777)
    try Data(HelperBench.endless).write(to: bench.url("endless.svg"))
    let process = try bench.start(["get", "endless.svg", "--output", "a.png"], launcher: launcher)
    let folder = "/proc/\(process.pid)"
    func owner(_ path: String) -> uid_t? {
      var status = stat()
      return stat(path, &status) == 0 ? status.st_uid : nil
    }
    // Real time: only the system's own files show when it is hidden.
    let isHidden = await eventually {
      let status = (try? String(contentsOfFile: "\(folder)/status", encoding: .utf8)) ?? ""
      return status.contains("Name:\tthumbs\n") && status.contains("Uid:\t\(user)\t")
        && ["environ", "mem", "maps", "fd"].allSatisfy { owner("\(folder)/\($0)") == 0 }
    }
    #expect(isHidden)
    process.send(SIGKILL)
    _ = await process.result()
  }
}
