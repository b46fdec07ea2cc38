import CCurl
import Foundation

/// One running transfer: sets up its easy handle, takes what arrives, and says in the end what came of it.
///
/// It lives on the curl thread only. While the handle is in the multi handle, libcurl holds an unretained pointer to
/// this object; `CurlLoop.transfers` keeps it alive for exactly that time.
final class CurlTransfer {
  /// Why the transfer was stopped from within.
  private enum Stop {
    case enough
    /// A status other than success whose body is of no interest.
    case statusIsAll
    case failed(DownloadError)
  }

  /// Of the body of an error or a redirect so much is read and dropped to keep the connection; beyond, it is closed.
  private static let longestBodyWorthSkipping = 16 << 10

  /// Heads and trailers together may not be longer, interim answers included: no server needs as much.
  private static let longestHead = 128 << 10

  let handle: CurlEasyHandle
  private let order: TransferOrder
  private var head = ResponseHead()
  private var headLength = 0
  private var body: BodyStore
  private var hasBodyBegun = false
  private var expected: Int?
  private var received = 0
  /// The observer has said *enough*, but to read the little that is left is cheaper than to close the connection.
  private var readsOn = false
  private var stop: Stop?
  /// The beginning of the body as an earlier attempt has left it, until the answer goes on with it or does not.
  private var earlier: PartialBody?
  /// Whether the answer may be that nothing has changed.
  private var isConditional = false
  /// The tag under which the body can be gone on with, where it can.
  private var tag: String?
  /// The body's name on the disk, where it has one.
  private var stored: StoredPartial?
  private let start: ContinuousClock.Instant
  private var lastArrival: ContinuousClock.Instant?

  init(_ order: TransferOrder, handle: CurlEasyHandle, now: ContinuousClock.Instant) {
    self.order = order
    self.handle = handle
    start = now
    body = BodyStore(memoryLimit: order.memoryLimit, spillDirectories: order.spillDirectories)
    earlier = order.partial?.take(from: order.url)
    configure()
  }

  private func configure() {
    handle.set(CURLOPT_URL, order.url.text)
    ccurl_allow_only_http(handle.pointer)
    handle.set(CURLOPT_NOSIGNAL, true)
    handle.set(CURLOPT_FOLLOWLOCATION, false)
    handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    ccurl_leave_resolver_behind(handle.pointer)
    handle.set(CURLOPT_CONNECTTIMEOUT_MS, order.connectTimeout.milliseconds)
    handle.set(CURLOPT_USERAGENT, order.userAgent)
    if order.url.scheme == "https" {
      // Rather wait for a connection that may carry many streams than open another.
      handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
      handle.set(CURLOPT_PIPEWAIT, true)
    } else {
      // Without TLS nobody speaks HTTP/2, and waiting would make each first request wait for the answer before it.
      handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    }
    if order.decodesContent { handle.set(CURLOPT_ACCEPT_ENCODING, "") }
    configureTrust()
    let ownAccept = order.headers.firstValue(of: "Accept") == nil ? [HTTPHeader("Accept", order.accept)] : []
    handle.setHeaders(order.headers + ownAccept + (earlier?.requestHeaders ?? order.conditions))
    isConditional = earlier == nil && !order.conditions.isEmpty

    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_setopt_pointer(handle.pointer, CURLOPT_HEADERDATA, context)
    ccurl_setopt_pointer(handle.pointer, CURLOPT_WRITEDATA, context)
    ccurl_setopt_receiver(handle.pointer, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      CurlTransfer.deliver(bytes, size * count, to: context) { $0.receivedHeader($1) }
    }
    ccurl_setopt_receiver(handle.pointer, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      CurlTransfer.deliver(bytes, size * count, to: context) { $0.receivedBody($1) }
    }
  }

  /// Who is trusted, who we are, and over whom we go.
  private func configureTrust() {
    if let file = order.certificateAuthorityFile { handle.set(CURLOPT_CAINFO, file) }
    if let certificate = order.clientCertificate {
      handle.set(CURLOPT_SSLCERT, certificate.certificateFile)
      handle.set(CURLOPT_SSLKEY, certificate.keyFile ?? certificate.certificateFile)
      // Without one, the TLS library would ask for it on the terminal, and wait.
      handle.set(CURLOPT_KEYPASSWD, certificate.password ?? "")
    }
    switch order.proxy {
    case .environment: break
    case .none: handle.set(CURLOPT_PROXY, "")
    case .url(let url): handle.set(CURLOPT_PROXY, url)
    }
  }

  // MARK: While it runs

  /// Hands a callback's bytes on. Returns what the callback shall return: the count, or something else to end the
  /// transfer.
  private static func deliver(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, to context: UnsafeMutableRawPointer?,
    _ body: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
  ) -> Int {
    guard let context else { return -1 }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    return body(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : -1
  }

  private func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    lastArrival = .now
    headLength += line.count
    guard headLength <= Self.longestHead else {
      return end(.failed(.invalidAnswer(reason: "the header is longer than \(Self.longestHead >> 10) KiB")))
    }
    // Fields after the body are of no interest.
    guard !hasBodyBegun, head.take(line) == .complete else { return true }
    return beginBody(announced: head.contentLength)
  }

  private func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    lastArrival = .now
    guard hasBodyBegun else { return end(.failed(.invalidAnswer(reason: "a body without a header"))) }
    received += bytes.count
    guard isWanted else {
      return received <= Self.longestBodyWorthSkipping || end(.statusIsAll)
    }
    guard body.count + bytes.count <= order.byteLimit else {
      return end(.failed(.tooLarge(limit: order.byteLimit, announced: expected)))
    }
    let verdict = isSuccess ? order.observer?.bodyReceived(bytes, at: body.count) ?? .more : .more
    if verdict == .refuse, !readsOn { return end(.failed(.refusedByObserver)) }
    do throws(DownloadError) { try body.append(bytes) } catch { return end(.failed(error)) }
    return verdict != .enough || readsOn || endWithEnough()
  }

  /// Ends the transfer since its observer needs no more, unless it is cheaper to read on.
  private func endWithEnough() -> Bool {
    readsOn = isRestWorthReading
    return readsOn || end(.enough)
  }

  /// Whether the rest of a body that nobody needs is read all the same, to keep the connection.
  private var isRestWorthReading: Bool {
    // With the last byte in hand the transfer ends by itself.
    if body.count == expected { return true }
    switch handle.number(CURLINFO_HTTP_VERSION) {
    case Int(CURL_HTTP_VERSION_1_1):
      let isLast = head.headers.firstValue(of: "Connection")?.lowercased().contains("close") == true
      return !isLast && expected.map { $0 - body.count <= order.longestRestWorthReading } == true
    // Of HTTP/2 only the stream ends; HTTP/1.0 closes its connection in any case.
    default: return false
    }
  }

  private func beginBody(announced: Int?) -> Bool {
    hasBodyBegun = true
    let isEncoded = order.decodesContent && head.headers.firstValue(of: "Content-Encoding") != nil
    expected = isEncoded ? nil : announced
    if let earlier, isSuccess || head.status == 416 {
      if head.status == 206 || head.status == 416 { return goOn(from: earlier) }
      // The picture has changed meanwhile, or the server does not do ranges after all.
      earlier.stored?.remove()
      self.earlier = nil
    } else if head.status == 206 {
      return end(.failed(.invalidAnswer(reason: "a part of the file, which nobody asked for")))
    }
    guard isWanted else {
      return (announced ?? 0) <= Self.longestBodyWorthSkipping || end(.statusIsAll)
    }
    if let expected, expected > order.byteLimit {
      return end(.failed(.tooLarge(limit: order.byteLimit, announced: expected)))
    }
    body.prepare(for: expected)
    storeByName()
    if isSuccess { order.observer?.bodyBegins(expectedLength: expected) }
    return true
  }

  /// Goes on with the body of an earlier attempt, if this is its rest.
  private func goOn(from earlier: PartialBody) -> Bool {
    self.earlier = nil
    stored = earlier.stored
    guard earlier.isContinued(by: head) else { return end(.failed(.wrongRange)) }
    guard earlier.total <= order.byteLimit else {
      return end(.failed(.tooLarge(limit: order.byteLimit, announced: earlier.total)))
    }
    (expected, tag) = (earlier.total, earlier.etag)
    body = BodyStore(continuing: earlier.file, at: earlier.count)
    guard !earlier.isObserved, let observer = order.observer else { return true }
    switch earlier.show(to: observer) {
    case .more: return true
    case .enough: return endWithEnough()
    case .refuse: return end(.failed(.refusedByObserver))
    case nil: return end(.failed(.wrongRange))
    }
  }

  /// Gives a large body a name on the disk, where it can be gone on with after the end of the process and may be kept.
  private func storeByName() {
    tag = PartialBody.etag(of: head)
    guard let slot = order.partial, let expected, let tag, !ResponseMetadata(head.headers).control.forbidsStoring,
      let named = slot.store?.create(slot.name, address: order.url.digest, etag: tag, total: expected)
    else { return }
    body.spill(into: named.file)
    stored = named.stored
  }

  /// Leaves the body of an earlier attempt to the next one, when this one came to no answer about it.
  @discardableResult
  private func putBackEarlierBody() -> Bool {
    guard let earlier else { return false }
    order.partial?.put(earlier)
    return true
  }

  /// Leaves what has come to the next attempt, after the transfer has failed. What it cannot use is thrown away.
  func keepPartialBody() {
    if putBackEarlierBody() { return }
    if stop == nil, isSuccess, let expected, let tag, let file = body.spilled,
      (1..<expected).contains(body.count), let slot = order.partial
    {
      slot.put(
        PartialBody(
          file: file, count: body.count, total: expected, etag: tag, address: order.url.digest, stored: stored,
          isObserved: true))
    } else {
      stored?.remove()
    }
  }

  private func end(_ reason: Stop) -> Bool {
    stop = reason
    return false
  }

  private var isSuccess: Bool { (200..<300).contains(head.status) }
  private var isWanted: Bool { isSuccess || (order.keepsErrorBodies && head.redirectLocation == nil) }

  // MARK: Deadlines

  /// When to look at the clock again, and the deadline that has passed by now, if any.
  func checkDeadlines(now: ContinuousClock.Instant) -> (next: ContinuousClock.Instant, missed: DownloadError.Deadline?)
  {
    let total = start + order.totalTimeout
    if now >= total { return (total, .total) }
    if let lastArrival, lastArrival + order.stallTimeout > now {
      return (min(total, lastArrival + order.stallTimeout), nil)
    }

    // The silence counts from when the request could be sent. libcurl itself times the connecting out, except while a
    // transfer waits to share another's connection.
    let connected = handle.offset(CURLINFO_PRETRANSFER_TIME_T)
    let silentSince = lastArrival ?? (connected > 0 ? start + .microseconds(connected) : start + order.connectTimeout)
    let deadline = silentSince + order.stallTimeout
    if now < deadline { return (min(total, deadline), nil) }
    return (deadline, lastArrival != nil || connected > 0 ? .stall : .connect)
  }

  // MARK: The end

  /// What came of the transfer. To be called once, when libcurl is done with it.
  func result(_ code: CURLcode) -> Result<TransferAnswer, DownloadError> {
    switch stop {
    case .failed(let error): return .failure(error)
    case .enough, .statusIsAll: return .success(answer(isComplete: false))
    case nil: break
    }
    // What broke off was of no use but to the connection.
    if readsOn, code != CURLE_OK { return .success(answer(isComplete: false)) }
    if code == CURLE_OK {
      // An answer without a body calls no one back.
      if !hasBodyBegun && !beginBody(announced: 0) { return result(code) }
      return .success(answer(isComplete: true))
    }
    return statusAlone.map { .success($0) } ?? .failure(error(for: code))
  }

  /// What came of the transfer when it is stopped because a deadline has passed.
  func result(missing deadline: DownloadError.Deadline) -> Result<TransferAnswer, DownloadError> {
    if readsOn { return .success(answer(isComplete: false)) }
    return statusAlone.map { .success($0) } ?? .failure(.timedOut(deadline))
  }

  /// The answer, when its status tells more than how its unwanted body broke off.
  private var statusAlone: TransferAnswer? { hasBodyBegun && !isWanted ? answer(isComplete: false) : nil }

  private func answer(isComplete: Bool) -> TransferAnswer {
    let version =
      switch handle.number(CURLINFO_HTTP_VERSION) {
      case Int(CURL_HTTP_VERSION_1_0): "1.0"
      case Int(CURL_HTTP_VERSION_1_1): "1.1"
      case Int(CURL_HTTP_VERSION_2_0): "2"
      case Int(CURL_HTTP_VERSION_3): "3"
      default: ""
      }
    putBackEarlierBody()
    stored?.remove()
    return TransferAnswer(
      head: head, isUnchanged: isConditional && head.status == 304, body: body.finish(), isComplete: isComplete, receivedBytes: received, expectedBytes: expected,
      httpVersion: version, timeToFirstByte: .microseconds(handle.offset(CURLINFO_STARTTRANSFER_TIME_T)))
  }

  private func error(for code: CURLcode) -> DownloadError {
    let reason = handle.message(for: code)
    let hasAnswer = lastArrival != nil
    switch code {
    case CURLE_OPERATION_TIMEDOUT: return .timedOut(.connect)
    case CURLE_URL_MALFORMAT: return .invalidURL
    case CURLE_FILESIZE_EXCEEDED: return .tooLarge(limit: order.byteLimit, announced: nil)
    case CURLE_SSL_CERTPROBLEM: return .unusableCertificate(reason: reason)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
      return .untrusted(reason: reason)
    case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_GOT_NOTHING, CURLE_SEND_ERROR:
      return hasAnswer ? .brokenOff(received: received, expected: expected) : .unreachable(reason: reason)
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR:
      return .unreachable(reason: reason)
    default: return .invalidAnswer(reason: reason)
    }
  }
}
