import Foundation
import InMemoryTracing
import NIOCore
import NIOHTTP1
import Testing
import Tracing

@testable import HTTPServer
@testable import HTTPTransport
@testable import PipelineTestSupport
@testable import TestOrigin
@testable import TestSupport
@testable import ThumbnailServer

/// Spans of requests, whose trace they continue, and the file that they are written to.
@Suite(.timeLimit(.minutes(2))) struct RequestTracingTests {
  private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  private static let proxies = TrustedProxies([try? AddressRange("127.0.0.1")].compactMap(\.self))

  /// Sends a request as a connection of `HTTPServer` does.
  private func send(
    _ target: String, _ headers: HTTPHeaders = [:], from peer: String = "192.0.2.1", to fixture: ServiceFixture
  ) async -> ServerResponse {
    var headers = headers
    headers.add(name: "host", value: "localhost:8080")
    var request = ServerRequest(.GET, target, headers: headers, client: peer)
    request.observation = fixture.server.observation(of: request, from: peer)
    let response = await fixture.respond(request)
    request.observation?.finished(
      ServerExchange(
        client: peer, method: .GET, target: target, status: response.status, byteCount: response.data.count,
        duration: .milliseconds(1)))
    return response
  }

  private func fixture(_ tracer: any Tracer, key: String? = nil) throws -> ServiceFixture {
    try ServiceFixture {
      $0.tracing = RequestTracing(tracer, continuing: Self.proxies)
      $0.signer = key.flatMap { URLSigner.Key(parsing: $0) }.flatMap { URLSigner(keys: [$0]) }
    }
  }

  @Test func aRequestIsASpanWithTheWorkForItBelow() async throws {
    let tracer = InMemoryTracer()
    let fixture = try fixture(tracer)
    #expect(await send(try fixture.address("40x40,jpeg"), to: fixture).status == .ok)
    let request = try #require(tracer.finishedSpans.last)
    #expect(request.operationName == "GET /thumb/{options}/{source}" && request.kind == .server)
    #expect(request.attributes.get("http.request.method") == "GET")
    #expect(request.attributes.get("http.route") == "/thumb/{options}/{source}")
    #expect(request.attributes.get("http.response.status_code") == 200)
    #expect(request.attributes.get("url.path") == "/thumb/REDACTED" && request.status == nil)
    let thumbnail = try #require(tracer.finishedSpans.first { $0.operationName == "thumbnail" })
    #expect(thumbnail.parentSpanID == request.spanID)
    let decode = try #require(tracer.finishedSpans.first { $0.operationName == "decode" })
    #expect(decode.parentSpanID == thumbnail.spanID)
    tracer.clearFinishedSpans()
    _ = await send(try fixture.address("40x40,jpeg"), to: fixture)
    #expect(tracer.finishedSpans.map { $0.attributes.get("thumbnailer.origin") } == ["memory"])
  }

  @Test func noSpanHasAKeyASignatureOrTheAddressOfAnImage() async throws {
    let tracer = InMemoryTracer()
    let fixture = try fixture(tracer, key: "one:" + String(repeating: "ab", count: 16))
    for target in [
      try fixture.address("40", "/SECRET.jpg?SECRET=1") + "?key=one&signature=SECRET",
      "/imgproxy/SECRET/w:1/plain/SECRET", "/fit?width=1&key=SECRET&url=http%3A%2F%2FSECRET",
      "/picture/SECRET/40-cover",
      "/picture/SECRET", "/api/sessions/SECRET/items?token=SECRET", "/SECRET", "/api/SECRET", "/cache?url=SECRET",
    ] { _ = await send(target, to: fixture) }
    #expect(tracer.finishedSpans.count >= 9)
    for span in tracer.finishedSpans {
      #expect(!span.operationName.contains("SECRET"))
      span.attributes.forEach { #expect(!"\($1)".contains("SECRET"), "\(span.operationName): \($0)") }
    }
  }

  @Test func monitorsAndStreamsHaveNoSpan() throws {
    let fixture = try fixture(InMemoryTracer())
    for target in ["/healthz", "/readyz", "/metrics", "/api/sessions/1/events"] {
      #expect(fixture.server.observation(of: ServerRequest(.GET, target, headers: [:]), from: "127.0.0.1") == nil)
    }
  }

  @Test func anErrorOfTheServerIsOneOfItsSpanAndARefusalIsNot() async throws {
    let tracer = InMemoryTracer()
    let fixture = try ServiceFixture(
      { $0.tracing = RequestTracing(tracer, continuing: Self.proxies) }, answer: { _ in .status(503) })
    #expect(await send(try fixture.address("40"), to: fixture).status.code >= 500)
    #expect(tracer.finishedSpans.last?.status?.code == .error)
    _ = await send("/nothing", to: fixture)
    #expect(tracer.finishedSpans.last?.status == nil && tracer.finishedSpans.last?.operationName == "GET")
  }

  /// The spans in a file, by name.
  private func written(
    share: Double = 1, _ work: (TraceLog) async throws -> Void
  ) async throws -> [String: [String: Any]] {
    let directory = try TemporaryDirectory()
    let path = directory.url.appending(path: "spans").path
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let log = TraceLog(to: descriptor, share: share)
    try await work(log)
    log.flush()
    var spans: [String: [String: Any]] = [:]
    for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let resource = try #require((object["resourceSpans"] as? [[String: Any]])?.first)
      let scope = try #require((resource["scopeSpans"] as? [[String: Any]])?.first)
      let span = try #require((scope["spans"] as? [[String: Any]])?.first)
      spans[span["name"] as? String ?? ""] = span
    }
    return spans
  }

  @Test func theLinesOfTheFileAreWhatACollectorReads() async throws {
    let spans = try await written { log in
      let fixture = try fixture(log)
      let headers: HTTPHeaders = ["traceparent": Self.parent, "tracestate": "vendor=\"a\\b\""]
      _ = await send(try fixture.address("40"), headers, from: "127.0.0.1", to: fixture)
      await fixture.library.flush()
    }
    let request = try #require(spans["GET /thumb/{options}/{source}"])
    #expect(request["traceId"] as? String == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(request["parentSpanId"] as? String == "00f067aa0ba902b7")
    #expect(request["traceState"] as? String == "vendor=\"a\\b\"" && request["kind"] as? Int == 2)
    #expect((request["spanId"] as? String)?.count == 16)
    let attributes = try #require(request["attributes"] as? [[String: Any]])
    let status = try #require(attributes.first { $0["key"] as? String == "http.response.status_code" })
    #expect((status["value"] as? [String: Any])?["intValue"] as? String == "200")
    let decode = try #require(spans["decode"])
    #expect(decode["traceId"] as? String == request["traceId"] as? String)
    let times = try ["startTimeUnixNano", "endTimeUnixNano"].map { try #require(UInt64(decode[$0] as? String ?? "")) }
    #expect(times[0] < times[1])
    #expect(spans["thumbnail"]?["parentSpanId"] as? String == request["spanId"] as? String)
  }

  @Test func onlyATrustedProxySaysWhichTraceItIs() async throws {
    for (peer, isContinued) in [("127.0.0.1", true), ("192.0.2.1", false)] {
      let spans = try await written { log in
        _ = await send("/help", ["traceparent": Self.parent], from: peer, to: try fixture(log))
      }
      let trace = spans["GET /help"]?["traceId"] as? String
      #expect((trace == "4bf92f3577b34da6a3ce929d0e0e4736") == isContinued)
      #expect((spans["GET /help"]?["parentSpanId"] != nil) == isContinued)
    }
  }

  @Test func whatIsNotSampledIsNotWritten() async throws {
    let unsampled = Self.parent.dropLast() + "0"
    #expect(
      try await written { log in
        _ = await send("/help", ["traceparent": "\(unsampled)"], from: "127.0.0.1", to: try fixture(log))
      }.isEmpty)
    #expect(try await written(share: 0) { _ = await send("/help", to: try fixture($0)) }.isEmpty)
    // Those that are continued are as their parent says.
    let continued = try await written(share: 0) { log in
      _ = await send("/help", ["traceparent": Self.parent], from: "127.0.0.1", to: try fixture(log))
    }
    #expect(continued.count == 1)
  }

  @Test(arguments: [
    ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
    ("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true),
    ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false),
    ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
    ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
    ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false),
    ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false),
    ("00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", false),
    ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", false), ("", false), ("----", false),
    ("00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
  ])
  func aParentIsReadAsW3CHasIt(text: String, isRead: Bool) {
    #expect((TraceContext(parent: text) != nil) == isRead)
  }

  @Test func whatIsInjectedIsExtracted() throws {
    struct Fields: Injector, Extractor {
      func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
      func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }
    let log = TraceLog(to: STDERR_FILENO, share: 0)
    var (carrier, context) = ([String: String](), ServiceContext.topLevel)
    let span = log.startSpan("a")
    log.inject(span.context, into: &carrier, using: Fields())
    log.extract(carrier, into: &context, using: Fields())
    #expect(context.trace == span.context.trace && context.trace?.isSampled == false)
  }
}
