@testable import HTTPTransport
@testable import ThumbnailCore
@testable import Thumbnailer

/// Proxies and client certificates: who is asked in whose name.
@Suite(.timeLimit(.minutes(5))) struct DownloadIdentityTests {
  @Test func asksTheProxyForAWholeURL() async throws {
    let proxy = try Origin { _ in .ok([7]) }
    let downloader = Downloader(.quick { $0.proxy = .url("http://ada:secret@127.0.0.1:\(proxy.port)") })
    let download = try await downloader.fetch(#require(URL(string: "http://picture.example/a.jpg")))
    #expect(try download.bytes == [7])
    let request = try #require(proxy.requests.first).request
    #expect(request.target == "http://picture.example/a.jpg")
    #expect(request.value(of: "Proxy-Authorization") == "Basic \(Data("ada:secret".utf8).base64EncodedString())")
    #expect(request.value(of: "Authorization") == nil)
  }

  @Test func aProxyIsPrintedWithoutItsLogin() {
    #expect("\(ProxyChoice.url("http://ada:se@cret@proxy.example:80"))" == "http://***@proxy.example:80")
    #expect("\(ProxyChoice.url("http://proxy.example:80")), \(ProxyChoice.none)" == "http://proxy.example:80, none")
  }

  @Test func aProxyThatIsNotThereIsNamedWithoutItsPassword() async throws {
    let gone = try Origin { _ in .ok([1]) }
    gone.stop()
    let downloader = Downloader(
      .quick {
        $0.proxy = .url("http://ada:secret@127.0.0.1:\(gone.port)")
        $0.retry.maximumAttempts = 1
      })
    let failure = await downloader.failure(of: try #require(URL(string: "http://picture.example/a.jpg")))
    guard case .unreachable(let reason) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(reason.contains("127.0.0.1") && !reason.contains("secret"))
  }

  @Test func sendsHeadersOfTheTargetToTheTargetAlone() async throws {
    // A proxy sees a plain request's fields by nature; over CONNECT it must see none of them.
    let proxy = try Origin { _ in .status(502) }
    let downloader = Downloader(
      .quick {
        $0.proxy = .url("http://127.0.0.1:\(proxy.port)")
        $0.retry.maximumAttempts = 1
      })
    _ = await downloader.failure(
      of: try #require(URL(string: "https://picture.example/a.jpg")),
      headers: [HTTPHeader("Authorization", "secret"), HTTPHeader("X-Api-Key", "secret")])
    let request = try #require(proxy.requests.first).request
    #expect(request.method == "CONNECT")
    #expect(!request.headers.contains { $0.value.contains("secret") })
  }

  @Test(.enabled(if: NginxServer.isInstalled, "needs nginx and openssl"))
  func showsACertificateToItsHostAlone() async throws {
    let server = try await NginxServer(files: ["a": [1, 2, 3]], rate: 1 << 20, asksForCertificate: true)
    let folder = try TemporaryDirectory()
    let pem = folder.url.appending(path: "both.pem")
    let parts = try [server.certificate, server.key].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    try (parts[0] + parts[1]).write(to: pem)
    let certificate = ClientCertificate(
      host: try #require(HostName(parsing: "localhost:\(server.port)")), certificateFile: pem.path)
    let downloader = Downloader(
      .quick {
        $0.certificateAuthorityFile = server.certificate
        $0.clientCertificates = [certificate]
        $0.retry.maximumAttempts = 1
      })
    #expect(try await downloader.fetch(server.url("/a", host: "localhost")).bytes == [1, 2, 3])
    #expect(await downloader.failure(of: server.url("/a")) == .httpStatus(400, retryAfter: nil))
  }

  @Test(.enabled(if: NginxServer.isInstalled, "needs nginx and openssl"))
  func aProxyOverTLSIsVerifiedByTheSameAuthorities() async throws {
    let server = try await NginxServer(files: ["a": [1, 2, 3]], rate: 1 << 20)
    func downloader(trusting file: String?) -> Downloader {
      Downloader(
        .quick {
          $0.certificateAuthorityFile = file
          $0.proxy = .url("https://localhost:\(server.port)")
          $0.retry.maximumAttempts = 1
        })
    }
    let url = try #require(URL(string: "http://picture.example/a"))
    #expect(try await downloader(trusting: server.certificate).fetch(url).bytes == [1, 2, 3])
    #expect(await downloader(trusting: nil).failure(of: url) != nil)
  }

  @Test(.enabled(if: NginxServer.isInstalled, "needs nginx and openssl"))
  func aCertificateWithoutItsKeyIsSaidToBeUnusable() async throws {
    let server = try await NginxServer(files: ["a": [1]], rate: 1 << 20, asksForCertificate: true)
    let downloader = Downloader(
      .quick {
        $0.certificateAuthorityFile = server.certificate
        $0.clientCertificates =
          HostName(parsing: "127.0.0.1").map {
            [ClientCertificate(host: $0, certificateFile: server.certificate)]
          } ?? []
      })
    #expect(await downloader.failure(of: server.url("/a"))?.kind == "unusableCertificate")
  }

  @Test(.enabled(if: NginxServer.isInstalled, "needs nginx and openssl"))
  func aFileOfAuthoritiesWithoutAnyIsNamed() async throws {
    let server = try await NginxServer(files: [:], rate: 1 << 20)
    let downloader = Downloader(.quick { $0.certificateAuthorityFile = "/dev/null" })
    guard case .unusableAuthorities(let reason) = await downloader.failure(of: server.url("/a")) else {
      Issue.record("it was used")
      return
    }
    #expect(reason.contains("/dev/null"))
  }
}
