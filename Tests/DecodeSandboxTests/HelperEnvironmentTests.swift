@testable import CodecTestSupport
@testable import DecodeSandbox

/// What a helper process knows of the one that started it.
@Suite(.timeLimit(.minutes(5))) struct HelperEnvironmentTests {
  @Test func nothingButWhatDecodersNeedIsPassedOn() {
    let needed = [
      "HOME": "/home/ada", "LANG": "C.UTF-8", "LC_ALL": "C", "LD_LIBRARY_PATH": "/opt/lib",
      "FONTCONFIG_FILE": "/etc/fonts",
    ]
    let secret = [
      "UNSPLASH_ACCESS_KEY": "hunter2", "PEXELS_API_KEY": "hunter2", "THUMBS_CLIENT_KEY_PASSWORD": "hunter2",
      "https_proxy": "http://ada:hunter2@proxy", "LD_PRELOAD": "/tmp/hunter2.so", "SSH_AUTH_SOCK": "/tmp/hunter2",
      "VIPS_CONCURRENCY": "hunter2", "GIO_MODULE_DIR": "/snap/hunter2", "PATH": "/hunter2", "TMPDIR": "/hunter2",
    ]
    let passed = HelperSpawn.environment(from: needed.merging(secret) { $1 })
    for (name, value) in needed { #expect(passed.contains("\(name)=\(value)")) }
    #expect(!passed.contains { $0.contains("hunter2") })
    #expect(passed.contains("VIPS_CONCURRENCY=1"))
    #expect(Set(passed.map { $0.prefix { $0 != "=" } }).count == passed.count)
  }

  @Test func theRunningHelperHasThatAndNoMore() async throws {
    let ours = ProcessInfo.processInfo.environment
    let passed = Set(HelperSpawn.environment(from: ours))
    // Otherwise there would be nothing to leave out.
    #expect(ours.contains { !passed.contains("\($0.key)=\($0.value)") })
    let bench = HelperBench()
    _ = try #require(try await bench.render(Array(TestImages.bytes("formats/pnm.ppm")), .pnm).first).get()
    let pid = try #require(bench.pool.waiting.first)
    let bytes = try #require(FileManager.default.contents(atPath: "/proc/\(pid)/environ"))
    #expect(Set(bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }) == passed)
  }
}
