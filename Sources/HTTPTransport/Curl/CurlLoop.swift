import CCurl
import Foundation

/// The event loop of the curl thread: takes commands, runs libcurl, delivers results, checks deadlines. Used on that
/// thread only.
final class CurlLoop {
  /// How long the thread sleeps when no transfer runs; commands wake it.
  private static let idlePoll = Duration.seconds(60)
  /// The most idle handles kept for reuse.
  private static let maximumSpareHandles = 16

  private let mailbox: CurlMailbox
  private let multi: UnsafeMutableRawPointer
  /// The running transfers by the pointer of their handle.
  private var transfers: [UnsafeMutableRawPointer: CurlTransfer] = [:]
  private var spareHandles: [CurlEasyHandle] = []
  private var lifetime = HostCacheLifetime(start: .now)

  init(mailbox: CurlMailbox, maximumIdleConnections: Int) {
    self.mailbox = mailbox
    multi = mailbox.multi
    ccurl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    ccurl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, maximumIdleConnections)
  }

  /// Runs until the stop command.
  func run() {
    while execute(mailbox.takeAll()) {
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      finishDone()
      let timeout = failOverdue(now: .now)
      curl_multi_poll(multi, nil, 0, Int32(timeout.milliseconds), nil)
    }
    for handle in Array(transfers.keys) { end(handle, with: .failure(.cancelled)) }
  }

  /// Executes commands; false on the stop command.
  private func execute(_ commands: [CurlThread.Command]) -> Bool {
    for command in commands {
      switch command {
      case .start(let transfer, let completion): start(transfer, completion)
      case .cancel(let completion):
        if let handle = transfers.first(where: { $0.value.completion === completion })?.key {
          end(handle, with: .failure(.cancelled))
        }
      case .stop: return false
      }
    }
    return true
  }

  private func start(_ request: Transfer, _ completion: CurlThread.Completion) {
    guard let handle = spareHandles.popLast() ?? CurlEasyHandle() else {
      completion.resume(with: .failure(.noResources(reason: "libcurl could not be started")))
      return
    }
    let now = ContinuousClock.now
    let transfer = CurlTransfer(request, completion, handle: handle, now: now)
    lifetime.use(request.url.host, at: now)
    if lifetime.isShort {
      handle.set(CURLOPT_DNS_CACHE_TIMEOUT, lifetime.seconds)
      handle.set(CURLOPT_MAXAGE_CONN, lifetime.seconds)
      handle.set(CURLOPT_FORBID_REUSE, !(request.download?.othersUseHost ?? true))
    }
    transfers[handle.pointer] = transfer
    let code = transfer.isReady ? curl_multi_add_handle(multi, handle.pointer) : CURLM_BAD_EASY_HANDLE
    if code != CURLM_OK {
      end(handle.pointer, with: .failure(.noResources(reason: String(cString: curl_multi_strerror(code)))))
    }
  }

  private func finishDone() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
        let result = transfers[handle]?.result(ccurl_message_result(message))
      else { continue }
      end(handle, with: result)
    }
  }

  /// Fails transfers that have missed a deadline, and returns how long the thread may sleep.
  private func failOverdue(now: ContinuousClock.Instant) -> Duration {
    var next = now + Self.idlePoll
    var overdue: [(UnsafeMutableRawPointer, Result<Download, DownloadError>)] = []
    for (handle, transfer) in transfers {
      let check = transfer.check(now: now)
      if let missed = check.missed {
        overdue.append((handle, transfer.result(missing: missed)))
      } else {
        next = min(next, check.next)
      }
    }
    for (handle, result) in overdue { end(handle, with: result) }
    return next - now
  }

  /// Removes a transfer from libcurl, and only then delivers the result. An unfinished transfer's stream or connection
  /// is closed.
  private func end(_ handle: UnsafeMutableRawPointer, with result: Result<Download, DownloadError>) {
    remove(handle, after: result)?.resume(with: result)
  }

  /// A separate function, so that the transfer is released before the result is delivered: the receiver may request the
  /// same body at once, and must not find its file locked.
  private func remove(
    _ handle: UnsafeMutableRawPointer, after result: Result<Download, DownloadError>
  ) -> CurlThread.Completion? {
    guard let transfer = transfers.removeValue(forKey: handle) else { return nil }
    if case .failure = result { transfer.keepPartialBody() }
    curl_multi_remove_handle(multi, handle)
    if spareHandles.count < Self.maximumSpareHandles {
      transfer.handle.reset()
      spareHandles.append(transfer.handle)
    }
    return transfer.completion
  }
}

/// The time for which libcurl keeps a host's addresses and idle connections: as long as the last thousand hosts took to
/// appear, at most a minute.
///
/// After each transfer libcurl scans all addresses that it keeps, and for each connection above its limit all hosts
/// that ever had one (version 7.88 never removes a host whose last connection it closed for that reason). With tens of
/// thousands of hosts this takes longer than the transfers. A pure value: the caller passes the time.
struct HostCacheLifetime {
  private static let longest = 60
  private static let maximumHosts = 1000

  /// The time in seconds, from 1 to 60.
  private(set) var seconds = longest
  private var hosts: Set<String> = []
  private var begin: ContinuousClock.Instant

  init(start: ContinuousClock.Instant) { begin = start }

  /// Whether a connection should be closed at once if no other download waits for its host.
  var isShort: Bool { seconds < Self.longest }

  /// A transfer from this host begins.
  mutating func use(_ host: String, at now: ContinuousClock.Instant) {
    let elapsed = now - begin
    if elapsed >= .seconds(Self.longest) || hosts.count >= Self.maximumHosts {
      seconds = min(max(Int(elapsed.components.seconds), 1), Self.longest)
      hosts = []
      begin = now
    }
    hosts.insert(host)
  }
}
