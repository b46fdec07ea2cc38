@testable import HTTPServer
@testable import ThumbnailCore
@testable import ThumbnailServer
@testable import Thumbnailer

/// Which images may be asked for: signed addresses, allowed hosts, public addresses; and purging.
@Suite(.timeLimit(.minutes(5))) struct SourceAccessTests {
  private static func signer() throws -> URLSigner {
    let key = try #require(URLSigner.Key(parsing: "k:000102030405060708090a0b0c0d0e0f"))
    return try #require(URLSigner(keys: [key]))
  }

  @Test func onlySignedAddressesAreServedWhereThereIsAKey() async throws {
    let signer = try Self.signer()
    let folder = try #require(ServedFolder(path: TestImages.url("formats").path))
    let fixture = try ServiceFixture {
      $0.signer = signer
      $0.folder = folder
    }
    let address = try fixture.address("40,jpeg")
    for target in [address, "/thumb/40/jpeg-420.jpg", address + "?key=k&signature=x"] {
      let response = await fixture.get(target)
      #expect(response.status == .forbidden && response.object["error"] as? String == "refused")
    }
    #expect(fixture.origin.requests.isEmpty)
    #expect(await fixture.get(signer.sign(address)).status == .ok)
    #expect(await fixture.get(signer.sign("/thumb/40/jpeg-420.jpg")).status == .ok)
    // A stored thumbnail is no reason to leave the signature out.
    #expect(await fixture.get(address).status == .forbidden)
    #expect(await fixture.get(signer.sign(address, expires: 1)).status == .forbidden)
  }

  @Test func hostsOnTheListNeedNoSignature() async throws {
    let signer = try Self.signer()
    for signs in [true, false] {
      let fixture = try ServiceFixture {
        $0.signer = signs ? signer : nil
        $0.sourceHosts = [HostPattern(parsing: "127.0.0.1")].compactMap { $0 }
      }
      #expect(await fixture.get(try fixture.address("40")).status == .ok)
      let other = "/thumb/40/http%3A%2F%2Flocalhost%3A\(fixture.origin.port)%2Fa.jpg"
      #expect(await fixture.get(other).status == .forbidden)
      #expect(await fixture.get(signer.sign(other)).status == (signs ? .ok : .forbidden))
    }
  }

  @Test func addressesOfPrivateNetworksAreRefused() async throws {
    let fixture = try ServiceFixture(pipeline: { $0.addresses = .publicOnly })
    for host in ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "169.254.169.254", "[::ffff:127.0.0.1]"] {
      let target = try #require(
        ThumbnailAddress.path(options: "40", source: "http://\(host):\(fixture.origin.port)/a.jpg"))
      let response = await fixture.get(target)
      #expect(response.status == .forbidden || response.status == .badRequest, "\(host): \(response.text)")
    }
    #expect(fixture.origin.requests.isEmpty)
  }

  @Test func uploadsNeedWhatSourcesNeed() async throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    let signer = try Self.signer()
    let open = try ServiceFixture()
    #expect(await open.post(nextcloudPreview(40, 40), picture).status == .ok)
    let signed = try ServiceFixture { $0.signer = signer }
    #expect(await signed.post(nextcloudPreview(40, 40), picture).status == .forbidden)
    let listed = try ServiceFixture { $0.sourceHosts = [HostPattern(parsing: "example.org")].compactMap { $0 } }
    #expect(await listed.post(nextcloudPreview(40, 40), picture).status == .forbidden)
    let keyed = try ServiceFixture {
      $0.signer = signer
      $0.imaginaryKey = "secret"
    }
    #expect(await keyed.post(nextcloudPreview(40, 40, key: "secret"), picture).status == .ok)
    for wrong in ["", "secre", "secret%00", "Secret"] {
      #expect(await keyed.post(nextcloudPreview(40, 40, key: wrong), picture).status == .unauthorized, "\(wrong)")
    }
  }

  @Test func aPictureIsRemovedByWhoeverHasTheKey() async throws {
    let fixture = try ServiceFixture { $0.purgeKey = "secret" }
    let address = try fixture.address("40,jpeg")
    let purge = "/cache?url=" + (address.split(separator: "/").last.map(String.init) ?? "")
    #expect(await fixture.get(address).status == .ok)
    for fields: HTTPHeaders in [
      [:], ["authorization": "secret"], ["authorization": "Bearer wrong"], ["authorization": "Bearer "],
    ] {
      #expect(await fixture.get(purge, fields, method: .DELETE).status == .forbidden)
    }
    let key: HTTPHeaders = ["authorization": "Bearer secret"]
    let read = await fixture.get(purge, key)
    #expect(read.status == .methodNotAllowed && read["allow"] == "DELETE")
    #expect(await fixture.get("/cache", key, method: .DELETE).status == .badRequest)
    let foreign: HTTPHeaders = ["authorization": "Bearer secret", "origin": "http://evil.com"]
    #expect(await fixture.get(purge, foreign, method: .DELETE).status == .forbidden)
    #expect(await fixture.get(address).status == .ok && fixture.origin.requests.count == 1)
    #expect(await fixture.get(purge, key, method: .DELETE).status == .noContent)
    #expect(await fixture.get(address).status == .ok && fixture.origin.requests.count == 2)
    let keyless = try ServiceFixture()
    #expect(await keyless.get(purge, key, method: .DELETE).status == .notFound)
  }

  @Test func allPicturesOfAHostOrAPrefixAreRemoved() async throws {
    let fixture = try ServiceFixture { $0.purgeKey = "secret" }
    let key: HTTPHeaders = ["authorization": "Bearer secret"]
    let address = try fixture.address("40,jpeg")
    let prefix = fixture.origin.url("/").absoluteString
    for (query, removed) in [
      ("host=127.0.0.1", 1), ("host=0.0.1", 0), ("prefix=\(prefix)", 1), ("prefix=\(prefix)b", 0),
      ("prefix=\(prefix)a", 1),
    ] {
      #expect(await fixture.get(address).status == .ok)
      let requests = fixture.origin.requests.count
      let response = await fixture.get("/cache?\(query)", key, method: .DELETE)
      #expect(
        response.status == .ok && String(decoding: response.data, as: UTF8.self) == "{\"removed\":\(removed)}",
        "\(query)")
      #expect(await fixture.get(address).status == .ok)
      #expect(fixture.origin.requests.count == requests + removed, "\(query)")
    }
    for empty in ["host=", "prefix=", "host"] {
      #expect(await fixture.get("/cache?\(empty)", key, method: .DELETE).status == .badRequest)
    }
    #expect(await fixture.get("/cache?host=127.0.0.1", method: .DELETE).status == .forbidden)
  }

  @Test func theServerIsReadyUntilItStops() async throws {
    let fixture = try ServiceFixture()
    #expect(await fixture.get("/healthz").text == "ok\n")
    #expect(await fixture.get("/readyz").text == "ready\n")
    #expect(await fixture.get("/readyz", ["host": "10.0.0.1"]).status == .ok)
    await fixture.server.stop()
    #expect(await fixture.get("/readyz").status == .serviceUnavailable)
    #expect(await fixture.get("/healthz").status == .ok)
  }

  @Test func itIsNotReadyWithoutTheCacheThatItWasToHave() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    try Data("a".utf8).write(to: file)
    let fixture = try ServiceFixture(pipeline: { $0.cacheDirectory = file })
    let response = await fixture.get("/readyz")
    #expect(response.status == .serviceUnavailable && !response.text.contains(directory.url.path))
  }

  @Test func theMetricsAreThoseOfTheRequests() async throws {
    let fixture = try ServiceFixture()
    let address = try fixture.address("40,jpeg")
    _ = await fixture.get(address)
    fixture.server.finished(
      ServerExchange(target: address, status: .ok, byteCount: 5, duration: .milliseconds(3)))
    fixture.server.finished(
      ServerExchange(target: "", status: nil, byteCount: 0, duration: .seconds(30)))
    var text = ""
    await poll {
      text = await fixture.get("/metrics").text
      return text.contains("thumbs_stage_duration_seconds_count{stage=\"encode\"} 1")
    }
    for line in [
      "thumbs_http_requests_total{route=\"thumb\",status=\"200\"} 1",
      "thumbs_http_requests_total{route=\"page\",status=\"499\"} 1", "thumbs_http_response_bytes_total 5",
      "thumbs_http_request_duration_seconds_bucket{route=\"thumb\",le=\"0.001\"} 0",
      "thumbs_http_request_duration_seconds_bucket{route=\"thumb\",le=\"0.005\"} 1",
      "thumbs_http_request_duration_seconds_bucket{route=\"thumb\",le=\"+Inf\"} 1",
      "thumbs_http_request_duration_seconds_bucket{route=\"page\",le=\"10.0\"} 0",
      "thumbs_http_request_duration_seconds_count{route=\"page\"} 1", "thumbs_decodes_total 1",
      "thumbs_stage_duration_seconds_count{stage=\"download\"} 1",
      "thumbs_stage_duration_seconds_count{stage=\"wait\"} 1",
      "thumbs_stage_duration_seconds_count{stage=\"decode\"} 1",
    ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
    // Each metric is described once, before its values.
    let names = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
    #expect(Set(names).count == names.count)
  }
}
