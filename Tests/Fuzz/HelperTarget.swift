import Foundation

@testable import DecodeSandbox
@testable import ImageCodec
@testable import ThumbnailCore

/// The messages between a pipeline and its helper, each side reading what the other may have made up: the pipeline a
/// response, the helper a request. What is accepted is within what was asked for, and is the same when it is sent again.
func fuzzHelper(_ input: FuzzInput) {
  receiveResponse(input)
  receiveRequest(input)
  if let greeting = received(HelperGreeting.self, input) {
    require(sentAgain(greeting) == greeting, "another greeting when it is sent again")
  }
}

/// What was asked for.
private let asked = {
  var request = HelperRequest(
    .webp, [Variant(size: PixelSize(40, 30)), Variant(size: PixelSize(16, 16), format: .webp, frames: .all)],
    limits: .fuzzing, mostBytes: 64 << 10)
  request.mostFrames = 8
  return request
}()

private func receiveResponse(_ input: FuzzInput) {
  withChannel(input) { channel throws(HelperFailure) in
    let response = try channel.receive(HelperResponse.self)
    require(sentAgain(response) == response, "another response when it is sent again")
    let source = try asked.check(response)
    if response.need != nil { return require(response.outcomes.isEmpty, "thumbnails and a need") }
    if let source { require(source.pixelCount <= asked.limits.maximumPixels, "an image of \(source)") }
    require(response.outcomes.count == asked.variants.count, "\(response.outcomes.count) thumbnails")
    var bytes = 0
    for (outcome, variant) in zip(response.outcomes, asked.variants) {
      guard case .pixels(let pixels) = outcome else { continue }
      let (size, raster) = (pixels.size, pixels.rasterSize)
      let output = source.map { ThumbnailGeometry(source: $0, variant: variant).output }
      require(output == size, "a thumbnail of \(size)")
      require(raster.width > 0 && raster.height > 0 && raster.width <= size.width, "pixels of \(raster)")
      let frames = pixels.timing?.frameCount ?? 1
      require(frames == 1 || variant.frames == .all, "\(frames) frames of a still image")
      require(raster.height <= size.height * frames, "pixels of \(raster) for \(frames) frames")
      bytes += raster.pixelCount * pixels.bands
      _ = try channel.receive(raster.pixelCount * pixels.bands)
      require(pixels.profileLength == nil, "a profile that nobody asked for")
    }
    require(bytes <= asked.mostBytes, "thumbnails of \(bytes) bytes")
  }
}

private func receiveRequest(_ input: FuzzInput) {
  withChannel(input, passing: [FileDescriptor(owning: dup(0))]) { channel throws(HelperFailure) in
    let (request, image) = try channel.receiveRequest()
    if case .memory(let bytes) = image {
      require(bytes.count <= HelperRequest.longestInline, "an image of \(bytes.count) bytes")
    }
    require(sentAgain(request) == request, "another request when it is sent again")
    for variant in request.variants { require(Variant(token: variant.token) == variant, "another \(variant.token)") }
  }
}

private func received<Message: HelperCoded>(_ type: Message.Type, _ input: FuzzInput) -> Message? {
  var message: Message?
  withChannel(input) { channel throws(HelperFailure) in message = try channel.receive(type) }
  return message
}

/// The message after it has been encoded and decoded.
private func sentAgain<Message: HelperCoded>(_ message: Message) -> Message? {
  received(Message.self, FuzzInput(bytes: HelperMessage.encode(message)))
}

/// Runs `body` at one end of a socket whose other end has sent the input and closed. A failure is a good response.
private func withChannel(
  _ input: FuzzInput, passing files: [FileDescriptor] = [], _ body: (inout HelperChannel) throws(HelperFailure) -> Void
) {
  var ends: [Int32] = [-1, -1]
  require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0, "no socket")
  let (near, far) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  var channel = HelperChannel(socket: near)
  // Real time: a fuzzer, no test; a thousand times what a good input takes.
  if files.isEmpty {
    channel = HelperChannel(socket: near, deadline: .seconds(5), cancellation: CancellationFlag())
  }
  do throws(HelperFailure) {
    try HelperChannel(socket: far, deadline: .seconds(5), cancellation: CancellationFlag())
      .send([.bytes(input.bytes)], passing: files)
    shutdown(far.rawValue, Int32(SHUT_WR))
    try body(&channel)
  } catch {
    if case .tooSlow = error { failFuzzing("\(input.bytes.count) bytes took 5 seconds") }
  }
}
