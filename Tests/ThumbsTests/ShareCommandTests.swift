/// `thumbs serve --share`, and what is not served to others by mistake. `test_share.py` has the rest.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ShareCommandTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  /// Starts a server, and returns what it prints once it has printed a line that begins so.
  private func printed(by process: ThumbsProcess, until beginning: String) async -> [Substring] {
    _ = await process.comes { printed, _ in
      printed.hasSuffix("\n") && printed.split(separator: "\n").contains { $0.hasPrefix(beginning) }
    }
    return process.printed.split(separator: "\n")
  }

  private func share(_ options: String...) async throws -> (lines: [Substring], complaints: String) {
    let process = try bench.start(
      ["serve", TestImages.gallery.path, "--share", "--host", "127.0.0.1", "--port", "0"] + options)
    let lines = await printed(by: process, until: options.isEmpty ? "Password" : "The password")
    _ = await process.comes { $1.contains("plain HTTP") }
    process.send(SIGTERM)
    return (lines, await process.run().stderr)
  }

  @Test func eachRunHasAPasswordOfItsOwn() async throws {
    var passwords: Set<Substring> = []
    for _ in 0..<2 {
      let (lines, complaints) = try await share()
      #expect(lines.count == 2 && lines[0].hasPrefix("http://127.0.0.1:"), "\(complaints)")
      #expect(complaints.contains("plain HTTP"))
      passwords.insert(try #require(lines.last))
    }
    #expect(passwords.count == 2 && passwords.allSatisfy { $0.wholeMatch(of: /Password: [a-z2-9]{10}/) != nil })
  }

  @Test func aFileKeepsThePasswordAndNobodyElseReadsIt() async throws {
    let file = bench.url("password")
    let first = try await share("--password-file", "password").lines.last
    #expect(first == "The password is in password.")
    let password = try String(contentsOf: file, encoding: .utf8)
    #expect(password.wholeMatch(of: /[a-z2-9]{10}\n/) != nil)
    #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
    _ = try await share("--password-file", "password")
    #expect(try String(contentsOf: file, encoding: .utf8) == password)
    let arguments = ["serve", TestImages.gallery.path, "--password-file", "password", "--port", "0"]
    try "short\n".write(to: file, atomically: false, encoding: .utf8)
    expectComplaint(try await bench.run(arguments), 64, "8 to 1000 bytes")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
    expectComplaint(try await bench.run(arguments), 64, "chmod 600")
  }

  @Test(arguments: [
    ["pictures", "--host", "0.0.0.0"], ["pictures", "--host", "::"],
    ["pictures", "--host", "0.0.0.0", "--signing-keys", "keys"],
    ["--host", "0.0.0.0"], ["--root", "pictures", "--host", "0.0.0.0"],
  ])
  func whatNobodyHasMeantForOthersIsNotServedToThem(options: [String]) async throws {
    _ = try bench.folder("pictures", pictures: 1)
    try Data("k1:000102030405060708090a0b0c0d0e0f\n".utf8).write(to: bench.url("keys"))
    let run = try await bench.start(["serve", "--port", "0"] + options).run()
    expectComplaint(run, 64, "--share", "--signing-keys", "--public")
  }

  @Test(arguments: [
    ["--host", "0.0.0.0", "--root", "pictures", "--signing-keys", "keys"], ["--host", "0.0.0.0", "--public"],
  ])
  func whatIsMeantForOthersIsServed(options: [String]) async throws {
    _ = try bench.folder("pictures", pictures: 1)
    try Data("k1:000102030405060708090a0b0c0d0e0f\n".utf8).write(to: bench.url("keys"))
    let process = try bench.start(["serve", "--port", "0"] + options)
    #expect(await printed(by: process, until: "http://").first?.hasPrefix("http://0.0.0.0:") == true, "\(process.said)")
    process.send(SIGTERM)
    #expect(await process.run().status == 143)
  }

  @Test func withoutAFolderTheCurrentOneIsShownIfItHasPictures() async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    for hasPicture in [false, true] {
      if hasPicture { try picture.write(to: bench.url("lake.JPG")) }
      let process = try bench.start(["serve", "--port", "0"])
      let line = try #require(await printed(by: process, until: "http://").first)
      let port = try #require(line.dropLast().split(separator: ":").last.flatMap { Int($0) })
      let connection = try RawConnection(port: port)
      await connection.send(Array("GET /api/gallery HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
      _ = await connection.readToEnd()
      let text = String(decoding: connection.data, as: UTF8.self)
      #expect(text.contains(hasPicture ? #""kind":"folder""# : "404"), "\(text)")
      process.send(SIGTERM)
      _ = await process.run()
    }
  }
}
