import CCurl
import Foundation

/// One running transfer: its libcurl handle, the state of its response, and its result.
///
/// Used on the curl thread only. While the handle is in the multi handle, libcurl holds an unretained pointer to this
/// object; `CurlLoop.transfers` keeps it alive for exactly that time.
final class CurlTransfer {
  let handle: CurlEasyHandle
  let completion: CurlThread.Completion
  private var receiver: ResponseReceiver
  private var deadlines: TransferDeadlines
  private var sockets: SocketGuard
  /// Whether it may be started. False if libcurl does not accept the callback that opens sockets.
  private(set) var isReady = false

  init(
    _ transfer: Transfer, _ completion: CurlThread.Completion, handle: CurlEasyHandle, now: ContinuousClock.Instant
  ) {
    (self.handle, self.completion) = (handle, completion)
    receiver = ResponseReceiver(transfer)
    // HTTP/2 closes only the stream, and HTTP/1.0 always closes its connection.
    receiver.mayKeepConnection = { handle.number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_1_1) }
    deadlines = TransferDeadlines(transfer.configuration, timeLeft: transfer.timeLeft, start: now)
    sockets = SocketGuard(transfer.configuration.checksSockets ? transfer.configuration.addresses : nil)
    handle.prepare(for: transfer, conditions: receiver.conditions)
    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_setopt_pointer(handle.pointer, CURLOPT_HEADERDATA, context)
    ccurl_setopt_pointer(handle.pointer, CURLOPT_WRITEDATA, context)
    ccurl_setopt_receiver(handle.pointer, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      CurlTransfer.deliver(bytes, size * count, to: context) { $0.receivedHeader($1) }
    }
    ccurl_setopt_receiver(handle.pointer, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      CurlTransfer.deliver(bytes, size * count, to: context) { $0.receivedBody($1) }
    }
    // Makes libcurl call `SocketGuard` for each socket.
    isReady =
      ccurl_setopt_socket_opener(handle.pointer) { context, _, wanted in
        guard let context, let wanted else { return CURL_SOCKET_BAD }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        let description = transfer.receiver.transfer
        return transfer.sockets.open(wanted) { description.logRefusal(of: $0) }
      } == CURLE_OK && ccurl_setopt_pointer(handle.pointer, CURLOPT_OPENSOCKETDATA, context) == CURLE_OK
  }

  /// Passes on a callback's bytes. Returns the callback's result: the count, or another number to abort the transfer.
  private static func deliver(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, to context: UnsafeMutableRawPointer?,
    _ receive: (inout ResponseReceiver, UnsafeRawBufferPointer) -> Bool
  ) -> Int {
    guard let context else { return -1 }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    let arrival = transfer.deadlines.recordArrival(count, at: .now)
    transfer.receiver.transfer.download?.received(arrival)
    return receive(&transfer.receiver, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : -1
  }

  /// When to check again, and the deadline that has passed, if any. If the transfer has just fallen silent, moves the
  /// body out of memory and notifies the download.
  func check(now: ContinuousClock.Instant) -> (next: ContinuousClock.Instant, missed: DownloadError.Deadline?) {
    var check = deadlines.check(now: now, connecting: timeToConnect, mayBeSlow: receiver.mayBeSlow)
    if sockets.takeRefusal() { check.next = now }
    guard check.missed == nil, let download = receiver.transfer.download, !deadlines.isSilent else { return check }
    if let next = deadlines.checkSilence(
      now: now, shortest: download.shortestTimeout, timeout: { download.silenceTimeout })
    {
      check.next = min(check.next, next)
    } else {
      download.fellSilent(since: deadlines.silentSince, hasLeftMemory: receiver.leaveMemory())
      // The other transfers of the site have a shorter silence timeout now.
      check.next = now
    }
    return check
  }

  /// The time until the request could be sent; nil before that.
  private var timeToConnect: Duration? {
    let microseconds = handle.offset(CURLINFO_PRETRANSFER_TIME_T)
    return microseconds > 0 ? .microseconds(microseconds) : nil
  }

  // MARK: Result

  /// The transfer's result. Call it once, when libcurl has finished it.
  func result(_ code: CURLcode) -> Result<Download, DownloadError> {
    receiver.result(code == CURLE_OK ? nil : error(for: code), httpVersion: httpVersion)
  }

  /// The result when the transfer is stopped because a deadline has passed.
  func result(missing deadline: DownloadError.Deadline) -> Result<Download, DownloadError> {
    let failure = sockets.isRefused ? receiver.transfer.addressRefused : .timedOut(deadline)
    return receiver.result(failure, httpVersion: httpVersion)
  }

  /// Keeps the body so far for the next attempt, after a failure.
  func keepPartialBody() { receiver.settlePartialBody(hasFailed: true) }

  private var httpVersion: String {
    switch handle.number(CURLINFO_HTTP_VERSION) {
    case Int(CURL_HTTP_VERSION_1_0): "1.0"
    case Int(CURL_HTTP_VERSION_1_1): "1.1"
    case Int(CURL_HTTP_VERSION_2_0): "2"
    case Int(CURL_HTTP_VERSION_3): "3"
    default: ""
    }
  }

  /// Maps libcurl's code to an error.
  private func error(for code: CURLcode) -> DownloadError {
    if sockets.isRefused { return receiver.transfer.addressRefused }
    if let shortage = sockets.shortage { return .noResources(reason: shortage) }
    let reason = handle.message(for: code)
    switch code {
    case CURLE_OPERATION_TIMEDOUT: return .timedOut(.connect)
    case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: return .noResources(reason: reason)
    case CURLE_URL_MALFORMAT: return .invalidURL
    case CURLE_FILESIZE_EXCEEDED: return .tooLarge(limit: receiver.transfer.request.byteLimit, announced: nil)
    case CURLE_SSL_CERTPROBLEM: return .unusableCertificate(reason: reason)
    case CURLE_SSL_CACERT_BADFILE: return .unusableAuthorities(reason: reason)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: return .untrusted(reason: reason)
    // If a part of the body was decompressed, the encoding is right but the data is damaged.
    case CURLE_BAD_CONTENT_ENCODING where receiver.received == 0: return .unknownEncoding(reason: reason)
    case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_GOT_NOTHING, CURLE_SEND_ERROR:
      return deadlines.lastArrival != nil
        ? .brokenOff(received: receiver.received, expected: receiver.expected) : .noResponse(reason: reason)
    // The receiver would have set `stop` if it had aborted the transfer. libcurl reports this code for extra bytes
    // after compressed data.
    case CURLE_WRITE_ERROR where receiver.head.isEncoded:
      return .invalidResponse(reason: "the body cannot be decompressed as the server announced")
    case CURLE_COULDNT_RESOLVE_HOST: return .unresolved(host: receiver.transfer.url.host, reason: reason)
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR, CURLE_PROXY:
      return .unreachable(reason: reason)
    default: return .invalidResponse(reason: reason)
    }
  }
}
