@testable import HTTPTransport
@testable import PipelineTestSupport
@testable import ThumbnailCore
@testable import Thumbnailer

/// A pipeline that fetches from public addresses alone. 127.0.0.2 stands for one of them.
@Suite(.timeLimit(.minutes(5))) struct GuardedPipelineTests {
  private let picture: [UInt8]

  init() throws { picture = try [UInt8](TestImages.bytes("formats/jpeg-420.jpg")) }

  private static func guarded(_ configuration: inout ThumbnailPipeline.Configuration) {
    configuration.addresses = .publicOnly
    configuration.addresses.allowed = [AddressRange(127, 0, 0, 2, bits: 32)]
  }

  private func error(of request: ThumbnailRequest, by pipeline: ThumbnailPipeline) async -> ThumbnailError? {
    do throws(ThumbnailError) {
      _ = try await pipeline.thumbnail(for: request)
      return nil
    } catch {
      return error
    }
  }

  @Test func aPrivateAddressIsAPermanentFailureWithACodeOfItsOwn() async throws {
    let fixture = try PipelineFixture(configuring: { $0.addresses = .publicOnly }) { [picture] _ in .ok(picture) }
    let error = try #require(await error(of: fixture.request(), by: fixture.pipeline))
    #expect(error.code == "address-refused" && !error.isTransient && error.httpStatus == 403)
    #expect(error.message.contains("(addresses)") && !error.message.contains("127"))
    #expect(fixture.origin.connectionCount == 0)
  }

  @Test func anAlternateURLIsTriedAndChecked() async throws {
    let fixture = try PipelineFixture(configuring: Self.guarded) { [picture] _ in .ok(picture) }
    let open = try Origin(at: "127.0.0.2") { [picture] _ in .ok(picture) }
    let variant = Variant(size: PixelSize(40, 40), fit: .cover)
    let source = ImageSource(fixture.origin.url("/a.jpg"), alternates: [open.url("/a.jpg")])
    _ = try await fixture.pipeline.thumbnail(for: ThumbnailRequest(source, variant: variant))
    let other = ImageSource(open.url("/gone.jpg"), alternates: [fixture.origin.url("/gone.jpg")])
    open.stop()
    let error = try #require(await error(of: ThumbnailRequest(other, variant: variant), by: fixture.pipeline))
    #expect(error.code == "address-refused")
    #expect(fixture.origin.connectionCount == 0)
  }

  @Test func aRefusalIsNotRemembered() async throws {
    let fixture = try PipelineFixture(configuring: { $0.addresses = .publicOnly }) { [picture] _ in .ok(picture) }
    #expect(await error(of: fixture.request(), by: fixture.pipeline)?.code == "address-refused")
    let free = try await fixture.restarted()
    #expect(await error(of: fixture.request(), by: free) == nil)
  }

  @Test func whatIsFreshInTheCacheIsServedAndWhatIsStaleIsNot() async throws {
    let clock = WallClock()
    let fixture = try PipelineFixture(configuring: { $0.now = { clock.now } }) { [picture] _ in
      .ok(picture).header("Cache-Control", "max-age=60").header("ETag", "\"1\"")
    }
    _ = try await fixture.pipeline.thumbnail(for: fixture.request())
    let guarded = try await fixture.restarted { ($0.addresses, $0.now) = (.publicOnly, { clock.now }) }
    #expect(await error(of: fixture.request(), by: guarded) == nil)
    clock.advance(by: 120)
    #expect(await error(of: fixture.request(), by: guarded)?.code == "address-refused")
    #expect(fixture.origin.requests.count == 1)
  }

  @Test func aLocalFileIsReadAsAlways() async throws {
    let fixture = try PipelineFixture(configuring: { $0.addresses = .publicOnly }) { _ in .status(404) }
    let source = ImageSource.file(at: TestImages.url("formats/jpeg-420.jpg").path)
    let request = ThumbnailRequest(source, variant: Variant(size: PixelSize(40, 40), fit: .cover))
    #expect(await error(of: request, by: fixture.pipeline) == nil)
  }

  @Test(arguments: ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
  func aProxyOfTheEnvironmentDoesNotGoWithAGuard(variable: String) {
    var configuration = ThumbnailPipeline.Configuration()
    let environment = [variable: "http://proxy.example:3128"]
    #expect(configuration.guardBypass(environment: environment) == nil)
    configuration.addresses = .publicOnly
    #expect(configuration.guardBypass(environment: environment)?.hasPrefix(variable) == true)
    #expect(configuration.guardBypass(environment: [variable: ""]) == nil)
    for proxy in [ProxyChoice.none, .url("http://proxy.example:3128")] {
      configuration.proxy = proxy
      #expect(configuration.guardBypass(environment: environment) == nil)
    }
  }
}
