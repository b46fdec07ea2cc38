@testable import HTTPServer
@testable import TestOrigin
@testable import ThumbnailCore
@testable import ThumbnailServer
@testable import Thumbnailer

/// `/thumb/{options}/{source}`: what is sent, to whom, and for how long.
@Suite(.timeLimit(.minutes(5))) struct ThumbnailRouteTests {
  @Test func aThumbnailIsMadeOnceAndThenComesFromMemory() async throws {
    let fixture = try ServiceFixture()
    let address = try fixture.address("40,jpeg")
    let request = ServerRequest(.GET, address, headers: ["host": "localhost"])
    #expect(fixture.server.timedResponse(to: request).atOnce == nil)
    let first = await fixture.get(address)
    #expect(first.status == .ok && first["content-type"] == "image/jpeg")
    #expect(first.size?.longerSide == 40)
    let second = try #require(fixture.server.timedResponse(to: request).atOnce)
    #expect(second.data == first.data && second["etag"] == first["etag"])
    #expect(fixture.origin.requests.count == 1)
    for (field, value) in [
      ("x-content-type-options", "nosniff"), ("content-security-policy", "default-src 'none'; sandbox"),
      ("cache-control", ThumbnailRoutes.storing),
    ] { #expect(first[field] == value && second[field] == value) }
    #expect(first["vary"] == nil)
  }

  @Test func aValidatorThatIsKnownIsNotSentAgain() async throws {
    let fixture = try ServiceFixture()
    let address = try fixture.address("40,jpeg")
    let tag = try #require(await fixture.get(address)["etag"])
    #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
    for known in [tag, "W/\(tag)", "\"a\", \(tag)", "*", "\"a\",\t\(tag) ,\"b\""] {
      let response = await fixture.get(address, ["if-none-match": known])
      #expect(response.status == .notModified && response.data.isEmpty, "\(known)")
      #expect(response["etag"] == tag && response["cache-control"] != nil)
    }
    let twice = await fixture.get(address, ["if-none-match": "\"a\"", "If-None-Match": tag])
    #expect(twice.status == .notModified)
    for other in ["\"a\"", tag.replacing("\"", with: ""), "W/\"a\"", ""] {
      #expect(await fixture.get(address, ["if-none-match": other]).status == .ok, "\(other)")
    }
    #expect(await fixture.get(try fixture.address("41,jpeg"))["etag"] != tag)
  }

  @Test func theFormatGoesByWhatTheClientNames() async throws {
    let fixture = try ServiceFixture()
    let address = try fixture.address("40")
    for (accept, type) in [
      ("image/webp,*/*", "image/webp"), ("image/avif,image/webp", "image/avif"), ("*/*", "image/jpeg"),
      ("image/*", "image/jpeg"), ("", "image/jpeg"), ("image/webp;q=0", "image/jpeg"),
      ("IMAGE/WEBP;q=0.8", "image/webp"),
      ("image/avif;q=0, image/webp", "image/webp"), ("text/html", "image/jpeg"),
    ] {
      let response = await fixture.get(address, ["accept": accept])
      #expect(response["content-type"] == type, "\(accept)")
      #expect(response["vary"] == "Accept")
      let condition: HTTPHeaders = ["accept": accept, "if-none-match": response["etag"] ?? ""]
      #expect(await fixture.get(address, condition)["vary"] == "Accept")
    }
  }

  @Test func whileOthersWaitAVIFIsSentOnlyWhereItIsStored() async throws {
    let gate = Gate()
    let fixture = try ServiceFixture(answer: { request in
      let response = OriginResponse.picture
      return request.path == "/slow.jpg" ? response.held(by: gate) : response
    })
    let known = try fixture.address("40", "/known.jpg")
    #expect(await fixture.get(known, ["accept": "image/avif,image/webp"])["content-type"] == "image/avif")
    let slow = try fixture.address("40", "/slow.jpg")
    async let waiting = fixture.get(slow)
    await poll { fixture.origin.requests.count == 2 }
    #expect(await fixture.get(known, ["accept": "image/avif,image/webp"])["content-type"] == "image/avif")
    let new = try fixture.address("40", "/new.jpg")
    #expect(await fixture.get(new, ["accept": "image/avif,image/webp"])["content-type"] == "image/webp")
    gate.open()
    #expect(await waiting.status == .ok)
  }

  @Test(arguments: [
    ("/thumb", 400), ("/thumb/", 400), ("/thumb/40", 400), ("/thumb/40/", 400), ("/thumb//40/", 400),
    ("/thumb/%/a", 400),
    ("/thumb/tall/a.jpg", 400), ("/thumb/0x0/a.jpg", 400), ("/thumb/40/a.jpg", 404), ("/thumb/40/http%3A%2F%2F", 400),
    ("/thumb/40/http%3A%2F%2Fevil.com%5C%40example.org%2Fa", 400), ("/thumb/40/ftp%3A%2F%2Fexample.org%2Fa.jpg", 404),
    ("/thumb/40/https%3A%2F%2Fexa%20mple.org%2Fa.jpg", 400),
    ("/nothing", 404), ("/page/../index.html", 404), ("/page/missing.js", 404), ("/page", 404), ("/health/x", 404),
    ("/picture/x/400x400-cover", 404), ("/picture/x/original", 404), ("/api/gallery", 404), ("/%2e%2e/etc/passwd", 404),
  ])
  func whatMakesNoSenseIsAShortError(target: String, status: UInt) async throws {
    let fixture = try ServiceFixture()
    let response = await fixture.get(target)
    #expect(response.status.code == status, "\(response.text)")
    #expect(response["cache-control"] == "no-store" && response["x-content-type-options"] == "nosniff")
    #expect(response.data.count < 300 && response.object["error"] != nil && response.object["message"] != nil)
  }

  @Test func onlyReadingIsAllowed() async throws {
    let fixture = try ServiceFixture()
    let address = try fixture.address("40")
    for method in [HTTPMethod.POST, .PUT, .DELETE, .PATCH, .OPTIONS] {
      let response = await fixture.get(address, method: method)
      #expect(response.status == .methodNotAllowed && response["allow"] == "GET, HEAD")
    }
    #expect(await fixture.get(address, method: .HEAD).status == .ok)
  }

  @Test(arguments: [
    ("/404", 404, "not-found"), ("/500", 502, "server-failed"), ("/403", 403, "refused"),
    ("/page", 415, "not-a-picture"), ("/half", 422, "damaged"),
  ])
  func anErrorNamesNeitherTheAddressNorAnythingElse(path: String, status: UInt, code: String) async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let fixture = try ServiceFixture(answer: { request in
      switch request.path {
      case "/page": .ok(Array("<!DOCTYPE html><p>secret</p>".utf8), type: "text/html")
      case "/half": .ok(picture.prefix(picture.count / 2), type: "image/jpeg")
      default: .status(Int(request.path.dropFirst()) ?? 500)
      }
    })
    let response = await fixture.get(try fixture.address("40", path))
    #expect(response.status.code == status, "\(response.text)")
    #expect(response.object["error"] as? String == code)
    for secret in ["127.0.0.1", "\(fixture.origin.port)", path, "secret", "http", "/tmp"] {
      #expect(!response.text.contains(secret), "\(response.text)")
    }
  }

  @Test func aDeadlineEndsTheWork() async throws {
    let gate = Gate()
    let fixture = try ServiceFixture({ $0.deadline = .nanoseconds(1) }, answer: { _ in .picture.held(by: gate) })
    let response = await fixture.get(try fixture.address("40"))
    #expect(response.status == .gatewayTimeout && response.object["error"] as? String == "timed-out")
    await poll { fixture.library.activeJobs == 0 }
    gate.open()
  }

  @Test func anAddressThatWasAcceptedIsAcceptedUntilItEndsAndNoOtherWithIt() async throws {
    let key = try #require(URLSigner.Key(parsing: "one:" + String(repeating: "ab", count: 16)))
    let signer = try #require(URLSigner(keys: [key]))
    let fixture = try ServiceFixture { $0.signer = signer }
    let signed = signer.sign(try fixture.address("40x40,jpeg"))
    for _ in 0..<3 { #expect(await fixture.get(signed).status == .ok) }
    #expect(await fixture.get(signed.replacing("40x40", with: "41x41")).status == .forbidden)
    #expect(await fixture.get(signed + "&expires=9999999999").status == .forbidden)
    #expect(await fixture.get("\(signed.prefix { $0 != "?" })").status == .forbidden)
  }

  @Test func rememberedAddressesEndAndAreBounded() throws {
    let addresses = AcceptedAddresses()
    let source = ServedSource(ImageSource(try #require(URL(string: "http://example.org/a.jpg"))), isSigned: true)
    let options = try VariantPath(parsing: "40")
    addresses.insert(.init(options: options, source: source, end: 100), of: "/a")
    #expect(addresses.address(of: "/a", now: 99) != nil)
    #expect(addresses.address(of: "/a", now: 100) == nil)
    addresses.insert(.init(options: options, source: source, end: nil), of: "/first")
    // One that is asked for stays, one that is not goes.
    for number in 0..<5000 {
      addresses.insert(.init(options: options, source: source, end: nil), of: "/\(number)")
      if number.isMultiple(of: 500) { #expect(addresses.address(of: "/first") != nil) }
    }
    #expect(addresses.address(of: "/0") == nil && addresses.address(of: "/4999") != nil)
    let long = "/" + String(repeating: "a", count: 2000)
    addresses.insert(.init(options: options, source: source, end: nil), of: long)
    #expect(addresses.address(of: long) == nil)
  }
}
