@testable import HTTPServer
@testable import PipelineTestSupport
@testable import ThumbnailServer

/// A thumbnail server without a socket, with a pipeline and an origin of its own.
struct ServiceFixture {
  let pipeline: PipelineFixture
  let server: ThumbnailServer

  var origin: Origin { pipeline.origin }
  var library: ThumbnailPipeline { pipeline.pipeline }

  init(
    _ configure: (inout ThumbnailServer.Configuration) -> Void = { _ in },
    pipeline configurePipeline: (inout ThumbnailPipeline.Configuration) -> Void = { _ in },
    answer: @escaping @Sendable (OriginRequest) -> OriginResponse = { _ in .picture }
  ) throws {
    pipeline = try PipelineFixture(configuring: configurePipeline, answer: answer)
    var configuration = ThumbnailServer.Configuration()
    // No request of a busy machine is too late.
    (configuration.deadline, configuration.sessionPatience) = (nil, .seconds(86_400))
    configure(&configuration)
    server = ThumbnailServer(configuration, pipeline: pipeline.pipeline)
  }

  /// The response to a request, however it is made.
  func respond(_ request: ServerRequest) async -> ServerResponse {
    switch server.timedResponse(to: request) {
    case .now(let response): response
    case .later(let work): await work()
    }
  }

  func get(
    _ target: String, _ headers: HTTPHeaders = [:], method: HTTPMethod = .GET, body: Data = Data()
  ) async -> ServerResponse {
    var headers = headers
    if !headers.contains(name: "host") { headers.add(name: "host", value: "localhost:8080") }
    return await respond(ServerRequest(method, target, headers: headers, body: ByteBuffer(bytes: body)))
  }

  func post(_ target: String, _ body: Data, _ headers: HTTPHeaders = [:]) async -> ServerResponse {
    await get(target, headers, method: .POST, body: body)
  }

  /// The address of a thumbnail of a path at the origin.
  func address(_ options: String, _ path: String = "/a.jpg") throws -> String {
    try #require(ThumbnailAddress.path(options: options, source: "\(origin.url(path))"))
  }
}

extension ServerResponse {
  /// The body, which is at hand.
  var data: Data {
    if case .bytes(let bytes) = body { bytes } else { Data() }
  }

  var text: String { String(decoding: data, as: UTF8.self) }

  subscript(_ field: String) -> String? { headers.first(name: field) }

  /// The fields of a JSON object.
  var object: [String: Any] { (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:] }

  /// What a JPEG, PNG or WebP says of its size.
  var size: PixelSize? { ImageSize.read(data) }
}

/// Reads the size of a picture from its header.
enum ImageSize {
  static func read(_ data: Data) -> PixelSize? {
    let bytes = [UInt8](data)
    func number(_ place: Int) -> Int { Int(bytes[place]) << 8 | Int(bytes[place + 1]) }
    if bytes.starts(with: [0x89, 0x50]), bytes.count > 24 { return PixelSize(number(18), number(22)) }
    guard bytes.starts(with: [0xff, 0xd8]) else { return nil }
    var place = 2
    while place + 8 < bytes.count, bytes[place] == 0xff {
      let marker = bytes[place + 1]
      if (0xc0...0xc2).contains(marker) { return PixelSize(number(place + 7), number(place + 5)) }
      place += 2 + number(place + 2)
    }
    return nil
  }
}

extension TimedResponse {
  var atOnce: ServerResponse? { if case .now(let response) = self { response } else { nil } }
}
