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
private let rules = ResponseRules(
  variants: [Variant(size: PixelSize(40, 30)), Variant(size: PixelSize(16, 16), format: .png)], format: .jpeg,
  byteCount: 5000, limits: .fuzzing, mostBytes: 64 << 10)

private func receiveResponse(_ input: FuzzInput) {
  withChannel(input) { channel throws(HelperFailure) in
    let response = try channel.receive(HelperResponse.self)
    require(sentAgain(response) == response, "another response when it is sent again")
    let lengths = try rules.lengths(of: response)
    require(lengths.count == rules.variants.count, "\(lengths.count) thumbnails")
    require(lengths.reduce(0, +) <= rules.mostBytes, "thumbnails of \(lengths) bytes")
    var bodies: [[UInt8]] = []
    for length in lengths { bodies.append(try channel.receive(length)) }
    for (result, variant) in zip(try rules.check(response, bodies), rules.variants) {
      require(result.variant == variant, "a result for another variant")
      guard case .success(let thumbnail) = result.result else { continue }
      let (size, source) = (thumbnail.size, thumbnail.source)
      require(size.width <= variant.size.width && size.height <= variant.size.height, "a thumbnail of \(size)")
      require(size.width > 0 && size.height > 0 && !thumbnail.data.isEmpty, "a thumbnail of \(size)")
      require(source.format == rules.format && source.byteCount == rules.byteCount, "of another image")
      require(source.size.pixelCount <= rules.limits.maximumPixels, "of an image of \(source.size)")
    }
  }
}

private func receiveRequest(_ input: FuzzInput) {
  withChannel(input, passing: FileDescriptor(owning: dup(0))) { channel throws(HelperFailure) in
    let (request, _) = try channel.receiveRequest()
    require(sentAgain(request) == request, "another request when it is sent again")
    for token in request.variants {
      if let variant = Variant(token: token) { require(variant.token == token, "\(token) is \(variant.token)") }
    }
  }
}

private func received<Message: Decodable>(_ type: Message.Type, _ input: FuzzInput) -> Message? {
  var message: Message?
  withChannel(input) { channel throws(HelperFailure) in message = try channel.receive(type) }
  return message
}

/// The message after it has been encoded and decoded.
private func sentAgain<Message: Codable>(_ message: Message) -> Message? {
  guard let bytes = try? HelperMessage.encode(message) else { return nil }
  require(HelperMessage.length(bytes) == bytes.count - 4, "a message of another length")
  return received(Message.self, FuzzInput(bytes: bytes))
}

/// Runs `body` at one end of a socket whose other end has sent the input and closed. A failure is a good response.
private func withChannel(
  _ input: FuzzInput, passing file: FileDescriptor? = nil, _ body: (HelperChannel) throws(HelperFailure) -> Void
) {
  var ends: [Int32] = [-1, -1]
  require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0, "no socket")
  let (near, far) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  let channel =
    file == nil
    ? HelperChannel(socket: near, deadline: .seconds(5), cancellation: CancellationFlag()) : HelperChannel(socket: near)
  do throws(HelperFailure) {
    try HelperChannel(socket: far).send(input.bytes, passing: file)
    shutdown(far.rawValue, Int32(SHUT_WR))
    try body(channel)
  } catch {
    if case .tooSlow = error { failFuzzing("\(input.bytes.count) bytes took 5 seconds") }
  }
}
