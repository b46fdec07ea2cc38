@testable import CodecTestSupport

/// `thumbs serve` as a program, over HTTP.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ServeCommandTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  /// A server that runs, at an address of its own.
  private final class Served: Sendable {
    let process: ThumbsProcess
    let address: String
    private var port: Int { address.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    init(_ bench: Bench, _ arguments: [String], environment: [String: String] = [:], launcher: [String] = [])
      async throws
    {
      let process = try bench.start(
        ["serve"] + arguments + ["--cache-dir", bench.cache.path], environment: environment, launcher: launcher)
      self.process = process
      _ = await process.comes { printed, _ in printed.hasSuffix("/\n") }
      address = process.printed.split(separator: "\n").first.map { String($0.dropLast()) } ?? ""
      #expect(address.hasPrefix("http://127.0.0.1:"), "\(process.said)")
    }

    func get(
      _ path: String, method: String = "GET", body: Data? = nil, headers: [String: String] = [:]
    ) async throws -> (status: Int, body: Data, type: String) {
      var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
      for (name, value) in headers { head += "\(name): \(value)\r\n" }
      if let body { head += "Content-Length: \(body.count)\r\n" }
      let connection = try RawConnection(port: port)
      await connection.send(Array("\(head)\r\n".utf8) + (body.map { Array($0) } ?? []))
      _ = await connection.readToEnd()
      let data = connection.data
      let end = try #require(data.firstRange(of: Data("\r\n\r\n".utf8)))
      let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
      let type = lines.first { $0.lowercased().hasPrefix("content-type: ") }?.dropFirst("content-type: ".count)
      let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
      return (try #require(status), data[end.upperBound...], type.map { String($0) } ?? "")
    }

    func object(_ path: String, method: String = "GET", body: Data? = nil, headers: [String: String] = [:]) async throws
      -> [String: Any]
    {
      let data = try await get(path, method: method, body: body, headers: headers).body
      return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    /// The images of a new session, once there are that many.
    func items(_ count: Int, query: String = "") async throws -> [[String: Any]] {
      let token = try #require(try await object("/api/gallery")["token"] as? String)
      let message = try JSONSerialization.data(withJSONObject: ["query": query, "order": "name"])
      let session = try await object("/api/sessions", method: "POST", body: message, headers: ["x-thumbs-token": token])
      let id = try #require(session["id"] as? String)
      var items: [[String: Any]] = []
      // Real time: a folder is looked through meanwhile.
      try await poll {
        for version in (0...5).reversed() where items.count < count {
          items =
            try await object("/api/sessions/\(id)/items?version=\(version)&from=0")["items"] as? [[String: Any]] ?? []
        }
        return items.count >= count
      }
      return items
    }

    /// Ends it, and returns what became of it.
    func end(_ signal: Int32 = SIGTERM) async -> Run {
      process.send(signal)
      return await process.run()
    }
  }

  @Test func aCheckEndsWithZeroWhileAServerIsReady() async throws {
    let served = try await Served(bench, ["--port", "0"])
    let port = served.address.split(separator: ":").last.map(String.init) ?? ""
    let check = try await bench.run("serve", "--check", "--port", port)
    #expect(check.status == 0 && check.stdout.isEmpty && check.stderr.isEmpty, "\(check.stderr)")
    _ = await served.end()
    expectComplaint(try await bench.run("serve", "--check", "--port", port), 69, "no server is ready", port)
  }

  @Test func theTestPicturesAreAGalleryAndTheEndKeepsTheirThumbnails() async throws {
    let served = try await Served(bench, [TestImages.gallery.path, "--port", "0"])
    #expect(try await served.get("/").type == "text/html; charset=utf-8")
    let count = try FileManager.default.contentsOfDirectory(atPath: TestImages.gallery.path).count {
      $0.hasSuffix(".jpg")
    }
    let items = try await served.items(count)
    let key = try #require(items.first?["key"] as? String)
    let thumbnail = try await served.get("/picture/\(key)/60x60-cover")
    #expect(thumbnail.status == 200 && thumbnail.type.hasPrefix("image/"))
    #expect(try await served.get("/healthz").body == Data("ok\n".utf8))
    #expect(try await served.get("/metrics").body.count > 1000)
    let run = await served.end()
    #expect(run.status == 143 && run.stderr.isEmpty && run.lines.count == 1, "\(run.stderr)")
    #expect(try await bench.run("cache", "stats", "--json").lines.first?.contains("\"thumbnails\":1,") == true)
  }

  @Test func ctrlCEndsItWhileAPageIsOpenAndAThumbnailIsWaitedFor() async throws {
    let gate = Gate()
    let origin = try Origin { _ in .ok([1]).held(by: gate) }
    let served = try await Served(bench, [TestImages.gallery.path, "--port", "0", "--allow-private-networks"])
    _ = try await served.items(1)
    let source = try #require("\(origin.url("/a.jpg"))".addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    let waiting = Task { try await served.get("/thumb/40/\(source)").status }
    // Real time: a server has no event for its test.
    await poll { origin.requests.count == 1 }
    served.process.send(SIGINT)
    gate.open()
    #expect(try await waiting.value == 415)
    #expect(await served.process.run().status == 130)
  }

  @Test func aPhotoServiceIsAGallery() async throws {
    let picture = [UInt8](try TestImages.bytes("formats/jpeg-420.jpg"))
    let pictures = (1...3).map { OriginPicture(id: "\($0)", description: "lake \($0)", body: picture) }
    let commons = try PhotoServiceOrigin.commons(pictures)
    let served = try await Served(
      bench,
      [
        "--provider", "commons:\(commons.baseURL)", "--port", "0", "--allow-private-networks",
        "--header", "*=User-Agent: test/1 (me@example.org)",
      ])
    #expect(try await served.object("/api/gallery")["title"] as? String == "Wikimedia Commons")
    let items = try await served.items(3, query: "lake")
    #expect(items.allSatisfy { $0["author"] is String && $0["licence"] is String && $0["download"] == nil })
    let key = try #require(items.first?["key"] as? String)
    #expect(try await served.get("/picture/\(key)/40x40-cover").status == 200)
    #expect(try await served.get("/picture/\(key)/original").status == 404)
    #expect(await served.end().status == 143)
  }

  /// Whoever has all of a file judges all of it. A transfer that was ended judges what it has fetched.
  @Test func aJPEGThatWasCutOffIsRefusedByAllWhoHaveAllOfIt() async throws {
    let file = try TestPicture.texture(1400, 1000).encoded("jpegsave_buffer", "Q=95,interlace=true")
    let part = Array(file.prefix(file.count * 9 / 10))
    let folder = try bench.folder("pictures", pictures: 0)
    try Data(part).write(to: folder.appendingPathComponent("part.jpg"))
    let origin = try Origin { _ in .ok(part) }
    let url = "\(origin.url("/part.jpg"))"
    try url.write(to: bench.url("list.txt"), atomically: true, encoding: .utf8)
    let source = try #require(url.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    let served = try await Served(bench, ["--root", "pictures", "--port", "0", "--allow-private-networks"])
    for (size, suffices) in [("100x100", true), ("1000x1000", false)] {
      let convert = try await bench.run("convert", "pictures", "--output", "out", "--size", size)
      let get = try await bench.run("get", "pictures/part.jpg", "--size", size, "--output", "a.jpg")
      #expect(convert.status == 1 && get.status == 1)
      #expect(try await served.get("/thumb/\(size)/part.jpg").status == 422)
      let side = try #require(Int(size.prefix { $0 != "x" }))
      let upload = try await served.get(nextcloudPreview(side, side), method: "POST", body: Data(part))
      #expect(upload.status == 422)
      let far = try await bench.run("get", url, "--size", size, "--output", "b.jpg", "--cache-dir", "other")
      let ahead = try await bench.run("prefetch", "--urls", "list.txt", "--size", size, "--cache-dir", "third")
      #expect(far.status == (suffices ? 0 : 1) && ahead.status == far.status)
      #expect(try await served.get("/thumb/\(size)/\(source)").status == (suffices ? 200 : 422))
    }
    _ = await served.end()
  }

  @Test func anAddressThatCannotBeUsedIsOneLine() async throws {
    let origin = try Origin { _ in .status(404) }
    let run = try await bench.process("serve", "--port", "\(origin.port)")
    expectComplaint(run, 73, "port \(origin.port) of 127.0.0.1 is in use", "--port 0")
    // Of a network for documentation.
    let foreign = try await bench.process("serve", "--host", "192.0.2.1", "--public", "--port", "0")
    expectComplaint(foreign, 73, "192.0.2.1 is no address of this machine", "--host 127.0.0.1")
  }

  @Test func onATerminalItSaysHowItIsStopped() async throws {
    let terminal = try #require(PseudoTerminal(columns: 100))
    let process = try bench.start(["serve", "--port", "0"], stderr: .descriptor(terminal.end))
    terminal.closeEnd()
    #expect(await process.comes { printed, _ in printed.hasSuffix("/\n") })
    // Real time: a terminal has no event for its test.
    await poll { terminal.text.contains("Ctrl-C ends it") }
    process.send(SIGINT)
    #expect(await process.run().status == 130)
  }

  @Test func whatThumbsSignSignsIsServed() async throws {
    try Data("k1:000102030405060708090a0b0c0d0e0f\n".utf8).write(to: bench.url("keys"))
    let served = try await Served(
      bench,
      [
        "--root", TestImages.url("formats").path, "--signing-keys", "keys", "--preset", "card=40x30,cover",
        "--port", "0",
      ])
    func sign(_ words: String...) async throws -> String {
      let run = try await bench.start(["sign"] + words + ["--signing-keys", "keys"]).run()
      #expect(run.status == 0 && run.stderr.isEmpty, "\(run.stderr)")
      return run.lines.first ?? ""
    }
    let address = try await sign("card", "jpeg-420.jpg", "--expires", "1h")
    #expect(try await served.get(address).status == 200)
    #expect(try await served.get(address.replacing("card", with: "41")).status == 403)
    #expect(try await served.get("/thumb/card/jpeg-420.jpg").status == 403)
    let refused = try await bench.run("sign", "400x300,rotate=90", "jpeg-420.jpg", "--signing-keys", "keys")
    expectComplaint(refused, 64, "no server makes that", "rotate")
    let unlimited = try await sign("card", "orientation-6.jpg")
    #expect(unlimited.hasPrefix("/thumb/card/orientation-6.jpg?key=k1&signature="))
    #expect(try await served.get(nextcloudPreview(4, 4), method: "POST", body: Data([1])).status == 403)
    _ = await served.end()
  }

  @Test(arguments: [
    ([], false), (["--allow-network", "10.0.0.0/8"], false),
    (["--allow-network", "10.0.0.0/8", "--allow-network", "127.0.0.1"], true),
    (["--allow-network", "127.0.0.1", "--refuse-network", "127.0.0.0/8"], false),
    (["--allow-private-networks", "--refuse-network", "127.0.0.0/8"], false),
  ])
  func privateAddressesAreFetchedOnlyIfTheirNetworkIsAllowed(options: [String], isFetched: Bool) async throws {
    let origin = try Origin.picture()
    let served = try await Served(bench, ["--port", "0"] + options)
    let source = try #require("\(origin.url("/a.jpg"))".addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    let response = try await served.get("/thumb/40/\(source)")
    #expect(response.status == (isFetched ? 200 : 403))
    #expect(!String(decoding: response.body, as: UTF8.self).contains("127.0.0.1"))
    #expect(origin.connectionCount == (isFetched ? 1 : 0))
    _ = await served.end()
  }

  @Test func aKeyOfImgproxyIsSaidToDoNothing() async throws {
    let served = try await Served(bench, ["--port", "0"], environment: ["IMGPROXY_KEY": "00"])
    expectComplaint(await served.end(), 143, "IMGPROXY_KEY does nothing", "--signing-keys", printing: true)
  }

  @Test func noSecretIsInTheEnvironment() async throws {
    let secrets = [
      "THUMBS_SIGNING_KEYS": "k:00112233445566778899aabbccddeeff", "THUMBS_IMAGINARY_KEY": "SECRETa",
      "THUMBS_PURGE_KEY": "SECRETb",
    ]
    let served = try await Served(
      bench, ["--port", "0", "--root", TestImages.url("formats").path], environment: secrets)
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let fit = try await served.get(nextcloudPreview(40, 40, key: "SECRETa"), method: "POST", body: picture)
    #expect(fit.status == 200)
    let purge = try await served.get(
      "/cache?url=jpeg-420.jpg", method: "DELETE", headers: ["Authorization": "Bearer SECRETb"])
    #expect(purge.status == 204)
    let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(served.process.pid)/environ"))
    let run = await served.end()
    #expect(run.complaints.isEmpty, "\(run.stderr)")
    for secret in ["SECRET", "00112233"] {
      #expect(!run.stderr.contains(secret))
      #expect(!String(decoding: environment, as: UTF8.self).contains(secret))
    }
  }

  @Test func aProxyThatIsNotNamedIsNoticedOnce() async throws {
    for (options, count) in [([], 1), (["--trusted-proxy", "127.0.0.1"], 0)] {
      let served = try await Served(bench, ["--port", "0"] + options)
      for number in 1...3 {
        #expect(try await served.get("/healthz", headers: ["X-Forwarded-For": "192.0.2.\(number)"]).status == 200)
      }
      let run = await served.end()
      #expect(run.complaints.count == count, "\(run.stderr)")
      #expect(run.complaints.allSatisfy { $0.contains("--trusted-proxy 127.0.0.1") })
    }
  }

  @Test func optionsComeFromAFileAndTheCommandLineCountsMore() async throws {
    let file: [String: Any] = [
      "root": TestImages.url("formats").path, "port": 1, "preset": ["card": "40x30,cover", "tiny": "8"],
      "allow-source": ["example.org", "*.example.com"], "isolate": "off", "share": false,
      "folder": "missing",
    ]
    try JSONSerialization.data(withJSONObject: file).write(to: bench.url("server.json"))
    let served = try await Served(bench, ["--config", "server.json", "--port", "0", TestImages.gallery.path])
    for preset in ["card", "tiny"] { #expect(try await served.get("/thumb/\(preset)/jpeg-420.jpg").status == 200) }
    #expect(try await served.get("/thumb/40/https%3A%2F%2Fother.example%2Fa").status == 403)
    #expect(
      try await served.get(nextcloudPreview(4, 4), method: "POST", headers: ["Content-Length": "\(64 << 20 + 1)"])
        .status == 413)
    #expect(try await served.object("/api/gallery")["title"] as? String == "gallery")
    _ = await served.end()
  }

  @Test(arguments: [
    (#"{"prot": 8080}"#, "prot"), (#"{"config": "a.json"}"#, "config"), (#"{"jobs": "x"}"#, "--jobs"),
    (#"{"port": [1, 2"#, "JSON"), ("[]", "JSON"), (#"{"preset": {"a": "tall"}}"#, "--preset a"),
    (#"{"help": true}"#, "help"), (#"{"pair": "prefer-jpeg", "provider": "commons"}"#, "--pair"),
  ])
  func aMistakeInTheFileIsOneLine(text: String, named: String) async throws {
    try Data(text.utf8).write(to: bench.url("server.json"))
    let run = await Run(of: ["serve", "--config", bench.url("server.json").path, "--port", "0"])
    expectComplaint(run, 64, "server.json", named)
  }

  /// Starts a program as systemd does: the socket is descriptor 3, and the variables name the process.
  private func launcher(socketAt address: String) -> [String] {
    let script = """
      import os, socket, sys
      listener = socket.socket()
      listener.bind(("\(address)", 0))
      listener.listen()
      os.dup2(listener.fileno(), 3)
      os.set_inheritable(3, True)
      os.environ["LISTEN_PID"] = str(os.getpid())
      os.environ["LISTEN_FDS"] = "1"
      os.execv(sys.argv[1], sys.argv[1:])
      """
    return ["/usr/bin/python3", "-c", script]
  }

  @Test func whatAServiceShowsIsNamed() async throws {
    try FileManager.default.copyItem(at: TestImages.gallery, to: bench.url("pictures"))
    try Data("{}".utf8).write(to: bench.url("server.json"))
    for (arguments, launcher) in [(["--config", "server.json"], []), ([], launcher(socketAt: "127.0.0.1"))] {
      let served = try await Served(bench, arguments + ["--port", "0"], launcher: launcher)
      #expect(try await served.get("/api/gallery").status == 404)
      #expect(await served.end().status == 143)
    }
    // A proxy passes on the requests of others.
    let proxied = try await Served(bench, ["--allow-host", "pics.example.org", "--port", "0"])
    #expect(try await proxied.get("/api/gallery").status == 404)
    #expect(await proxied.end().status == 143)
    let list = try await bench.run("serve", "--urls", "missing.txt", "--port", "0")
    expectComplaint(list, 69, "missing.txt cannot be read: No such file or directory")
    // A socket's address counts as one that was given.
    for folder in [[], ["pictures"]] {
      let run = try await bench.start(["serve"] + folder, launcher: launcher(socketAt: "0.0.0.0")).run()
      expectComplaint(run, 64, "everybody who can reach 0.0.0.0 would see this")
    }
  }

  @Test func systemdsSocketIsServed() async throws {
    let served = try await Served(
      bench, [TestImages.gallery.path, "--port", "1"], launcher: launcher(socketAt: "127.0.0.1"))
    #expect(!served.address.hasSuffix(":1"))
    #expect(try await served.get("/readyz").status == 200)
    #expect(await served.end().status == 143)
  }

  @Test func drawingsAreUploadedOnlyWhereThatIsAllowed() async throws {
    // As Nextcloud sends it.
    let target = nextcloudPreview(40, 40, type: "png", first: #"{"operation":"convert","params":{"type":"png"}}"#)
    for isAllowed in [false, true] {
      let served = try await Served(bench, ["--port", "0"] + (isAllowed ? ["--unsafe-from-web"] : []))
      for name in ["svg.svg", "pdf.pdf"] {
        let drawing = try Data(TestImages.bytes("formats/\(name)"))
        let response = try await served.get(target, method: "POST", body: drawing)
        if isAllowed {
          #expect(response.status == 200 && response.type == "image/png", "\(name)")
          #expect(response.body.starts(with: [0x89, 0x50, 0x4e, 0x47]))
        } else {
          #expect((400..<500).contains(response.status) && response.type == "application/json", "\(name)")
        }
      }
      #expect(await served.end().status == 143)
    }
  }

  @Test func whatIsHiddenStaysHiddenUntilItIsToBeShown() async throws {
    let arguments = [TestImages.url("gallery").path, "--port", "0"]
    let first = try await Served(bench, arguments)
    let names = try await first.items(10).compactMap { $0["id"] as? String }
    let hidden = try #require(names.first)
    let fields = ["x-thumbs-token": try #require(try await first.object("/api/gallery")["token"] as? String)]
    let session = try #require(
      try await first.object("/api/sessions", method: "POST", body: Data("{}".utf8), headers: fields)["id"] as? String)
    let message = try JSONSerialization.data(withJSONObject: ["ids": [hidden]])
    let deleted = try await first.get("/api/sessions/\(session)/delete", method: "POST", body: message, headers: fields)
    #expect(deleted.status == 204)
    _ = await first.end()
    for (more, isShown) in [([], false), (["--disk-cache", "0"], false), (["--show-hidden"], true), ([], true)] {
      let later = try await Served(bench, arguments + more)
      let shown = try await later.items(isShown ? names.count : names.count - 1).compactMap { $0["id"] as? String }
      #expect(shown.contains(hidden) == isShown)
      _ = await later.end()
    }
  }

  @Test func whoeverOpensItToOthersIsTold() async throws {
    let served = try bench.start(["serve", TestImages.gallery.path, "--host", "0.0.0.0", "--public", "--port", "0"])
    // What a machine cannot give is said besides.
    _ = await served.comes { $1.contains("--signing-keys") }
    #expect(served.said.contains("sees this gallery") && served.said.contains("--signing-keys"), "\(served.said)")
    served.send(SIGTERM)
    #expect(await served.run().status == 143)
  }

  @Test func aRemovedPictureIsMadeAgain() async throws {
    let origin = try Origin.serving(directory: TestImages.url("formats"))
    let list = Data("\(origin.url("/jpeg-420.jpg"))\n\(origin.url("/jpeg-444.jpg"))\n".utf8)
    for hits in [0, 2] {
      let run = try await bench.run("prefetch", "--urls", "-", "--json", "--disk-cache", "2GiB", input: .bytes(list))
      #expect(try run.summary().hits == hits)
    }
    let removed = try await bench.run("cache", "remove", "\(origin.url("/jpeg-420.jpg"))")
    #expect(removed.status == 0 && removed.stdout.isEmpty && removed.stderr.isEmpty, "\(removed.stderr)")
    let again = try await bench.run("cache", "remove", "\(origin.url("/jpeg-420.jpg"))")
    #expect(again.status == 0 && again.complaints.count == 1 && again.stderr.contains("nothing of that is stored"))
    let run = try await bench.run("prefetch", "--urls", "-", "--json", input: .bytes(list))
    #expect(try run.summary().hits == 1)
  }
}
