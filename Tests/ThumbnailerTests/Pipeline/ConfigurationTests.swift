import Foundation
import Testing
@testable import HTTPTransport
@testable import HTTPSemantics
@testable import ThumbnailCore
@testable import Thumbnailer
@testable import TestSupport

/// What a pipeline makes of its configuration, and what of it is printed.
struct ConfigurationTests {
  @Test func withoutADiskCacheThereIsNoStore() throws {
    let directory = try TemporaryDirectory()
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    configuration.diskCacheLimit = ByteSize(bytes: 0)
    #expect(try ThumbnailPipeline(configuration).pageStore == nil)
  }

  @Test func whatHoldsCredentialsDoesNotPrintThem() throws {
    let host = try #require(HostName(parsing: "a.example"))
    var headers = HostHeaders()
    headers.add(HTTPHeader("Authorization", "Bearer hunter2"), for: host)
    var configuration = ThumbnailPipeline.Configuration()
    configuration.proxy = .url("http://ada:hunter2@proxy.example")
    configuration.clientCertificates = [
      ClientCertificate(host: host, certificateFile: "/me.pem", password: "hunter2")
    ]
    let url = try #require(URL(string: "http://a.example/a.jpg"))
    let source = ImageSource(url, headers: [HTTPHeader("X-Key", "hunter2")])
    let secrets: [Any] = [
      configuration, headers, source, ThumbnailRequest(source, variant: Variant(size: PixelSize(1, 1))),
    ]
    for secret in secrets {
      var dumped = ""
      dump(secret, to: &dumped)
      let texts = [dumped, "\(secret)", String(reflecting: secret)]
      #expect(!texts.contains { $0.contains("hunter2") })
    }
    #expect("\(HTTPHeader("X-Key", "hunter2"))" == "X-Key: [hidden]")
  }
}
