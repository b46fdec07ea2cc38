import CSandbox
import Glibc
import ImageCodec
import ThumbnailCore

/// The bytes after a message on the socket; the message contains their length.
enum HelperAttachment {
  case bytes([UInt8])
  /// The samples of a thumbnail.
  case samples(Raster)

  /// Passes the bytes to `body`; they are valid during the call.
  fileprivate func withBytes(
    _ body: (UnsafeRawBufferPointer) throws(HelperFailure) -> Void
  ) throws(HelperFailure) {
    switch self {
    case .bytes(let bytes):
      try bytes.withUnsafeBytes { bytes in Result { () throws(HelperFailure) in try body(bytes) } }.get()
    case .samples(let raster): try raster.withBytes(body)
    }
  }
}

/// One end of the socket between a pipeline and a helper. Blocks the calling thread: in the pipeline until a deadline
/// or cancellation, in the helper as long as the connection is open.
///
/// Throws `.cancelled`, `.tooSlow`, `.crashed` if the other end is closed, and `.nonsense`.
struct HelperChannel: ~Copyable {
  /// How often a blocked thread checks for cancellation, in milliseconds.
  private static let interval: Int32 = 20
  /// The most parts that are sent at once.
  private static let mostParts = 64
  /// The least bytes that are received at once: a message, and as much of the following bytes as is quickly copied
  /// again.
  private static let leastReceived = 4 << 10
  /// The most that is received at once into the channel's own memory, in bytes.
  private static let mostReceived = 64 << 10

  private let socket: FileDescriptor
  private var watch = Stopwatch()
  /// The pipeline's limits for one request; nil in the helper.
  private let limits: (deadline: Duration, cancellation: CancellationFlag)?
  /// Bytes that were received in addition to the requested ones.
  private var received: [UInt8] = []
  /// The number of these bytes that have been used since.
  private var taken = 0

  /// The helper's end.
  init(socket: FileDescriptor) { (self.socket, limits) = (socket, nil) }

  /// The pipeline's end, for one request.
  init(socket: FileDescriptor, deadline: Duration, cancellation: CancellationFlag) {
    (self.socket, limits) = (socket, (deadline, cancellation))
  }

  /// Sends a request for an image, with its bytes behind it or its open file attached to the first byte.
  func send(_ request: HelperRequest, _ image: ByteSource) throws(HelperFailure) {
    var request = request
    request.byteCount = image.count
    switch image {
    case .memory(let bytes):
      request.isInline = true
      try send(request, followedBy: [.bytes(bytes)])
    case .file(let file, _), .part(let file, _): try send([.bytes(HelperMessage.encode(request))], passing: [file])
    }
  }

  /// Does something else, which the deadline leaves out.
  mutating func pause(_ work: () -> Void) { watch.pause(work) }

  /// Sends one message and what follows it.
  func send(_ message: some HelperCoded, followedBy others: [HelperAttachment] = []) throws(HelperFailure) {
    try send([.bytes(HelperMessage.encode(message))] + others[...])
  }

  /// Sends parts behind others, whose memory is known already, with open files attached to the first byte. All at once,
  /// as each call wakes the other end.
  func send(
    _ parts: ArraySlice<HelperAttachment>, after others: [iovec] = [], passing files: [FileDescriptor] = []
  ) throws(HelperFailure) {
    guard let first = parts.first else { return try send(others, passing: files) }
    try first.withBytes { bytes throws(HelperFailure) in
      let piece = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
      try send(parts.dropFirst(), after: others + [piece], passing: files)
    }
  }

  private func send(_ pieces: [iovec], passing files: [FileDescriptor]) throws(HelperFailure) {
    var (rest, files) = (pieces, files.map(\.rawValue))
    rest.removeFirst(bytes: 0)
    while !rest.isEmpty {
      let count = rest.prefix(Self.mostParts).withUnsafeBufferPointer { pieces in
        // The helper may make no other call for several pieces: sendmsg(2) could send descriptors.
        limits == nil
          ? writev(socket.rawValue, pieces.baseAddress, Int32(pieces.count))
          : csandbox_send(socket.rawValue, pieces.baseAddress, pieces.count, files, files.count)
      }
      if count > 0 {
        rest.removeFirst(bytes: count)
        files = []
      } else {
        try wait(for: POLLOUT, error: errno)
      }
    }
  }

  /// Receives one message.
  mutating func receive<Message: HelperCoded>(_ type: Message.Type) throws(HelperFailure) -> Message {
    let length = try receive(4).reduce(0) { $0 << 8 | Int($1) }
    guard (1...HelperMessage.longest).contains(length) else { throw .nonsense(detail: "a message of \(length) bytes") }
    return try HelperMessage.decode(type, try receive(length))
  }

  /// Requests from a zygote a helper with one end of another connection, and memory for samples.
  func send(_ connection: FileDescriptor, _ samples: FileDescriptor, memoryLimit: Int) throws(HelperFailure) {
    try send([.bytes(withUnsafeBytes(of: memoryLimit) { Array($0) })], passing: [connection, samples])
  }

  /// Receives what `send(_:_:memoryLimit:)` has sent, and maps the memory; nil if this connection is closed.
  func receiveConnection() -> (memoryLimit: Int, FileDescriptor, SharedSamples)? {
    var memoryLimit = 0
    let (count, files) = receive(&memoryLimit, MemoryLayout<Int>.size)
    guard count == MemoryLayout<Int>.size, files.count == 2 else { return nil }
    return SharedSamples(files[1], memoryLimit: memoryLimit).map { (memoryLimit, files[0], $0) }
  }

  /// Receives bytes and the open files attached to them.
  private func receive(_ bytes: UnsafeMutableRawPointer?, _ most: Int) -> (count: Int, files: [FileDescriptor]) {
    var (count, descriptors) = (0, [Int32](repeating: -1, count: Int(csandbox_most_descriptors)))
    repeat {
      count = csandbox_receive(socket.rawValue, bytes, most, &descriptors)
    } while count < 0 && errno == EINTR
    return (count, descriptors.filter { $0 >= 0 }.map { FileDescriptor(owning: $0) })
  }

  /// Receives a request and the image: the file that is attached to it, or the bytes that follow it.
  mutating func receiveRequest() throws(HelperFailure) -> (HelperRequest, ByteSource) {
    var files: [FileDescriptor] = []
    received = [UInt8](unsafeUninitializedCapacity: Self.leastReceived) { buffer, filled in
      (filled, files) = receive(buffer.baseAddress, buffer.count)
      filled = max(0, filled)
    }
    taken = 0
    let request = try receive(HelperRequest.self)
    if request.isInline {
      guard (0...HelperRequest.longestInline).contains(request.byteCount) else {
        throw .nonsense(detail: "an image of \(request.byteCount) bytes after a request")
      }
      return (request, .memory(try receive(request.byteCount)))
    }
    guard let file = files.first else { throw .nonsense(detail: "a request without an image") }
    return (request, .file(file, count: request.byteCount))
  }

  /// Receives exactly `count` bytes.
  mutating func receive(_ count: Int) throws(HelperFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    // It grows with the bytes that arrive, not with the announced length.
    while true {
      let piece = received[taken..<min(received.count, taken + count - bytes.count)]
      bytes += piece
      taken += piece.count
      if bytes.count == count { return bytes }
      let most = min(max(Self.leastReceived, count - bytes.count), Self.mostReceived)
      var error: Int32 = 0
      received = [UInt8](unsafeUninitializedCapacity: most) { buffer, filled in
        (filled, error) = receiveSome(into: UnsafeMutableRawBufferPointer(buffer))
      }
      taken = 0
      if received.isEmpty { try wait(for: POLLIN, error: error) }
    }
  }

  /// Fills the buffer.
  mutating func receive(into buffer: UnsafeMutableRawBufferPointer) throws(HelperFailure) {
    var filled = min(buffer.count, received.count - taken)
    buffer.copyBytes(from: received[taken..<taken + filled])
    taken += filled
    while filled < buffer.count {
      let (count, error) = receiveSome(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      if count == 0 { try wait(for: POLLIN, error: error) }
      filled += count
    }
  }

  /// Receives the bytes that have arrived: their number, or 0 and the reason for none.
  private func receiveSome(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, error: Int32) {
    let count = recv(socket.rawValue, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    // No bytes and no error: the other end is closed.
    return count > 0 ? (count, 0) : (0, count == 0 ? EPIPE : errno)
  }

  private func wait(for event: Int32, error: Int32) throws(HelperFailure) {
    if error == EINTR { return }
    guard error == EAGAIN || error == EWOULDBLOCK else { throw .crashed(how: "it closed its socket") }
    while true {
      var timeout: Int32 = -1
      if let limits {
        if limits.cancellation.isSet { throw .cancelled }
        let passed = watch.time
        if passed >= limits.deadline { throw .tooSlow(milliseconds: Int(passed / .milliseconds(1))) }
        timeout = min(Int32(clamping: Int((limits.deadline - passed) / .milliseconds(1)) + 1), Self.interval)
      }
      var polled = pollfd(fd: socket.rawValue, events: Int16(event), revents: 0)
      if poll(&polled, 1, timeout) > 0 { return }
    }
  }
}

extension [iovec] {
  /// Removes bytes that were sent, and the pieces that are empty then.
  fileprivate mutating func removeFirst(bytes count: Int) {
    var count = count
    while let first, first.iov_len <= count {
      count -= first.iov_len
      removeFirst()
    }
    if let first, count > 0 { self[0] = iovec(iov_base: first.iov_base + count, iov_len: first.iov_len - count) }
  }
}
