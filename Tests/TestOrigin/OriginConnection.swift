import Foundation

/// One connection of the origin, served on its own thread: reads requests and writes responses.
struct OriginConnection {
  /// The client has gone, or the response ended the connection.
  private struct Ended: Error {
    let outcome: OriginRecord.Outcome
  }

  /// `POLLRDHUP`, which Glibc declares for GNU sources only.
  private static let peerClosed: Int16 = 0x2000

  let socket: Int32
  let number: Int
  let log: OriginLog
  let handler: @Sendable (OriginRequest) -> OriginResponse
  private var unread: [UInt8] = []

  init(socket: Int32, number: Int, log: OriginLog, handler: @escaping @Sendable (OriginRequest) -> OriginResponse) {
    self.socket = socket
    self.number = number
    self.log = log
    self.handler = handler
  }

  /// Serves requests until either side closes the connection.
  mutating func serve() {
    while let request = readRequest() {
      let index = log.begin(request)
      do {
        try write(handler(request), to: request, index: index)
        log.end(index, .served)
      } catch let ended as Ended {
        log.end(index, ended.outcome)
        return
      } catch {
        return
      }
    }
  }

  // MARK: Reading

  private mutating func readRequest() -> OriginRequest? {
    let limit = 64 << 10
    while true {
      if let end = unread.endOfHead {
        let lines = String(decoding: unread[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        unread.removeFirst(end + 4)
        return parse(lines)
      }
      guard unread.count < limit, let more = receive() else { return nil }
      unread += more
    }
  }

  private mutating func parse(_ lines: [String]) -> OriginRequest? {
    guard let parts = lines.first?.split(separator: " "), parts.count == 3 else { return nil }
    let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return (String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
    }
    var bodyLength = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
    while bodyLength > 0 {
      if unread.isEmpty {
        guard let more = receive() else { return nil }
        unread = more
      }
      let skipped = min(bodyLength, unread.count)
      unread.removeFirst(skipped)
      bodyLength -= skipped
    }
    return OriginRequest(
      number: log.nextNumber(), connection: number, method: String(parts[0]), target: String(parts[1]),
      headers: headers)
  }

  private func receive() -> [UInt8]? {
    let bytes = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
      repeat { count = recv(socket, buffer.baseAddress, buffer.count, 0) } while count < 0 && errno == EINTR
      count = max(0, count)
    }
    return bytes.isEmpty ? nil : bytes
  }

  // MARK: Writing

  private func write(_ response: OriginResponse, to request: OriginRequest, index: Int) throws {
    if let gate = response.gate { try wait(for: gate) }
    if response.body.isEmpty { log.sent(index, 0, isLast: true) }
    try send(response.head)
    guard request.method != "HEAD", response.status != 204, response.status != 304 else { return }

    let sendsFirst = min(response.endsAfter ?? response.body.count, response.body.count)
    try sendBody(response, 0..<sendsFirst, index: index)
    switch response.ending {
    case .keepAlive:
      if case .chunked = response.length { try send(Array("0\r\n\r\n".utf8)) }
    case .close:
      let isWhole = sendsFirst == response.body.count
      if isWhole, case .chunked = response.length { try send(Array("0\r\n\r\n".utf8)) }
      throw Ended(outcome: .served)
    case .reset:
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
      throw Ended(outcome: .served)
    case .stall(let gate):
      guard let gate else {
        try wait(for: nil)
        return
      }
      try wait(for: gate)
      try sendBody(response, sendsFirst..<response.body.count, index: index)
      if case .chunked = response.length { try send(Array("0\r\n\r\n".utf8)) }
    }
  }

  private func sendBody(_ response: OriginResponse, _ range: Range<Int>, index: Int) throws {
    let step = response.piece?.bytes ?? 32 << 10
    for start in stride(from: range.lowerBound, to: range.upperBound, by: step) {
      let piece = response.body[start..<min(start + step, range.upperBound)]
      // Logged before the bytes are sent, so that the log includes whatever the client has received.
      log.sent(index, piece.count, isLast: start + piece.count == response.body.count)
      if case .chunked = response.length {
        try send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8))
      } else {
        try send(piece)
      }
      if let pause = response.piece?.pause { try self.pause(pause) }
    }
  }

  private func send(_ bytes: some Collection<UInt8>) throws {
    let bytes = ContiguousArray(bytes)
    var sent = 0
    while sent < bytes.count {
      let written = bytes.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if written < 0 {
        if errno == EINTR { continue }
        throw Ended(outcome: .clientClosed)
      }
      sent += written
    }
  }

  /// Waits until the gate opens; without a gate, until the client closes, which always throws.
  private func wait(for gate: Gate?) throws {
    try withExtendedLifetime(gate) {
      _ = try poll(also: gate?.descriptor ?? -1, timeout: -1)
    }
  }

  private func pause(_ duration: Duration) throws {
    // Real time: a server that is slow is so for real, as no clock is shared with libcurl. Tests take the least it takes.
    let end = ContinuousClock.now + duration
    while true {
      let left = end - .now
      guard left > .zero else { return }
      let (seconds, attoseconds) = left.components
      if try !poll(also: -1, timeout: Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)) { return }
    }
  }

  /// True if the other descriptor became readable, false on a timeout; throws if the client closed.
  private func poll(also other: Int32, timeout: Int32) throws -> Bool {
    var descriptors = [
      pollfd(fd: socket, events: Self.peerClosed, revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      let ready = Glibc.poll(&descriptors, nfds_t(descriptors.count), timeout)
      if ready < 0 && errno == EINTR { continue }
      if descriptors[0].revents != 0 { throw Ended(outcome: .clientClosed) }
      return ready > 0
    }
  }
}

extension [UInt8] {
  /// The index of the blank line behind a request's head.
  fileprivate var endOfHead: Int? {
    guard count >= 4 else { return nil }
    return (0...count - 4).first { self[$0] == 13 && self[$0 + 1] == 10 && self[$0 + 2] == 13 && self[$0 + 3] == 10 }
  }
}
