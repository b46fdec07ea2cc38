@testable import HTTPTransport
@testable import ThumbnailCore

@Suite struct HostHeadersTests {
  @Test(
    arguments: [
      ("example.org", "example.org", nil), ("EXAMPLE.org:8080", "example.org", 8080), ("127.0.0.1:1", "127.0.0.1", 1),
      ("[::1]", "::1", nil), ("[::1]:80", "::1", 80), ("bücher.example", "bücher.example", nil),
    ] as [(String, String, Int?)])
  func readsAHostsName(text: String, host: String, port: Int?) throws {
    let name = try #require(HostName(parsing: text))
    #expect(name.host == host && name.port == port)
  }

  @Test(arguments: [
    "", ":80", "a:", "a:0", "a:65536", "a:b", "http://a", "a/b", "a b", "a@b", "[::1", "[::1]80", "[a]", "a=b", "*",
  ])
  func refusesWhatIsNoHost(text: String) {
    #expect(HostName(parsing: text) == nil)
  }

  @Test(
    arguments: [
      ("a.example", "http://a.example/x", true), ("a.example", "https://A.EXAMPLE:8443/", true),
      ("a.example", "http://b.a.example/", false), ("b.a.example", "http://a.example/", false),
      ("a.example:80", "http://a.example/", true), ("a.example:443", "https://a.example/", true),
      ("a.example:80", "https://a.example/", false), ("[::1]:81", "http://[::1]:81/", true),
    ])
  func matchesTheVeryHost(name: String, url: String, matches: Bool) throws {
    #expect(try #require(HostName(parsing: name)).matches(#require(URL(string: url))) == matches)
  }

  @Test func addsTheFieldsOfItsHostToASource() throws {
    var headers = HostHeaders()
    headers.add(HTTPHeader("Authorization", "secret"), for: HostName(parsing: "a.example"))
    headers.add(HTTPHeader("authorization", "second"), for: HostName(parsing: "a.example"))
    headers.add(HTTPHeader("Accept-Language", "de"), for: nil)
    let source = ImageSource(try #require(URL(string: "http://a.example/1.jpg")), headers: [HTTPHeader("X", "1")])
    let other = ImageSource(try #require(URL(string: "http://b.example/1.jpg")))
    #expect(
      source.adding(headers).headers == [
        HTTPHeader("X", "1"), HTTPHeader("Authorization", "secret"), HTTPHeader("Accept-Language", "de"),
      ])
    #expect(other.adding(headers).headers == [HTTPHeader("Accept-Language", "de")])
  }

  @Test func whatIsFetchedWithCredentialsIsAnotherPictureToTheCache() throws {
    var headers = HostHeaders()
    headers.add(HTTPHeader("Authorization", "secret"), for: nil)
    let source = ImageSource(try #require(URL(string: "http://a.example/1.jpg")), identity: "one")
    #expect(source.adding(headers).key != source.key)
    #expect(source.adding(HostHeaders()) == source)
    #expect(source.adding(headers).identity == "one")
  }

  @Test func aSourcesOwnFieldsAndLocalFilesStayAsTheyAre() throws {
    var headers = HostHeaders()
    headers.add(HTTPHeader("authorization", "other"), for: nil)
    let own = ImageSource(
      try #require(URL(string: "http://a.example/1.jpg")), headers: [HTTPHeader("Authorization", "own")])
    #expect(own.adding(headers).headers == own.headers)
    #expect(ImageSource.file(at: "/etc/hostname").adding(headers).headers.isEmpty)
  }
}

@Suite struct NetrcTests {
  private func authorization(_ text: String, host: String) throws -> String? {
    let url = try #require(URL(string: "https://\(host)/"))
    let field = try Netrc(text: text).headers.headers(for: url).first
    return field.map { $0.value.replacing("Basic ", with: "") }
      .flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func readsLoginsOnOneLineOrMany() throws {
    let text = """
      # a comment
      machine a.example login ada password p#1
      machine b.example
        login bob
        account x
        password "two \\"words\\""  # behind
      machine c.example password only
      """
    #expect(try authorization(text, host: "a.example") == "ada:p#1")
    #expect(try authorization(text, host: "b.example") == "bob:two \"words\"")
    #expect(try authorization(text, host: "c.example") == nil)
  }

  @Test func theFirstLoginOfAHostCounts() throws {
    let text = "machine a.example login 1 password x machine a.example login 2 password y"
    #expect(try authorization(text, host: "a.example") == "1:x")
  }

  @Test func aDefaultLoginGoesToNobody() throws {
    #expect(try authorization("default login anonymous password me", host: "a.example") == nil)
  }

  @Test func macrosArePassedOver() throws {
    let text =
      "machine a.example login a password b\nmacdef init\nmachine x.example\ncd pub\n\nmachine b.example login c"
    for text in [text, text.replacing("\n", with: "\r\n")] {
      #expect(try authorization(text, host: "b.example") == "c:")
      #expect(try authorization(text, host: "x.example") == nil)
    }
  }

  @Test func saysWhereAWordMeansNothingWithoutShowingIt() {
    #expect(throws: InvalidValue("f, line 2: expected machine, login or password")) {
      try Netrc(text: "machine a.example\nhunter2", name: "f")
    }
    #expect(throws: InvalidValue("f, line 1: machine must be followed by a host name")) {
      try Netrc(text: "machine", name: "f")
    }
  }

  @Test func aFileThatOthersCanReadIsRefused() throws {
    let folder = try TemporaryDirectory()
    let path = folder.url.appending(path: "netrc").path
    try Data("machine a.example login b password c".utf8).write(to: URL(fileURLWithPath: path))
    #expect(chmod(path, 0o644) == 0)
    #expect(throws: InvalidValue.self) { try Netrc(path: path) }
    #expect(chmod(path, 0o600) == 0)
    #expect(try !Netrc(path: path).headers.isEmpty)
    #expect(throws: InvalidValue("\(path)x cannot be read: No such file or directory")) {
      try Netrc(path: path + "x")
    }
  }

  @Test func aLoginInTheURLGoesBeforeTheFiles() throws {
    let text = "machine a.example login ada password x machine a.example login bob password y"
    for (login, expected) in [
      ("", "ada:x"), (":@", "ada:x"), ("carl:z@", nil), ("carl@", nil), ("ada:z@", nil), ("ada:@", nil),
      // Of the same name, the password is looked up.
      ("ada@", "ada:x"), ("bob@", "bob:y"), ("b%6Fb@", "bob:y"), (":z@", nil),
    ] {
      #expect(try authorization(text, host: "\(login)a.example") == expected, "\(login)")
    }
  }

  @Test func aFieldForAHostGoesBeforeTheLoginInTheURL() throws {
    var headers = HostHeaders()
    headers.add(HTTPHeader("Authorization", "Bearer 1"), for: HostName(parsing: "a.example"))
    let url = try #require(URL(string: "https://ada:x@a.example/"))
    #expect(headers.merging(try Netrc(text: "machine a.example login b").headers).headers(for: url).count == 1)
    #expect(headers.headers(for: url).map(\.value) == ["Bearer 1"])
  }
}
