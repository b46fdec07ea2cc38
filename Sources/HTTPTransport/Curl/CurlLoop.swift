import CCurl
import Foundation
import ThumbnailCore

/// The event loop of the curl thread: takes commands, runs libcurl, delivers results, checks deadlines. Used on that
/// thread only.
final class CurlLoop {
  private struct Running {
    let transfer: CurlTransfer
    let promise: CurlThread.Completion
  }

  /// How long the thread sleeps when no transfer runs; commands wake it.
  private static let idlePoll = Duration.seconds(60)
  /// The most idle handles kept for reuse.
  private static let maximumSpareHandles = 16

  private let mailbox: CurlMailbox
  private let multi: UnsafeMutableRawPointer
  private var transfers: [CurlThread.Number: Running] = [:]
  private var numbers: [UnsafeMutableRawPointer: CurlThread.Number] = [:]
  private var spareHandles: [CurlEasyHandle] = []
  private var turnover = HostTurnover(start: .now)

  init(mailbox: CurlMailbox, maximumIdleConnections: Int) {
    self.mailbox = mailbox
    multi = mailbox.multi
    ccurl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    ccurl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, maximumIdleConnections)
  }

  /// Returns on the stop command.
  func run() {
    while execute(mailbox.takeAll()) {
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      finishDone()
      let timeout = failOverdue(now: .now)
      curl_multi_poll(multi, nil, 0, Int32(timeout.milliseconds), nil)
    }
    for number in Array(transfers.keys) { end(number, with: .failure(.cancelled)) }
  }

  /// Executes commands; false on the stop command.
  private func execute(_ commands: [CurlThread.Command]) -> Bool {
    for command in commands {
      switch command {
      case .start(let number, let transfer, let promise): start(number, transfer, promise)
      case .cancel(let number): end(number, with: .failure(.cancelled))
      case .stop: return false
      }
    }
    return true
  }

  private func start(_ number: CurlThread.Number, _ request: Transfer, _ promise: CurlThread.Completion) {
    guard let handle = spareHandles.popLast() ?? CurlEasyHandle() else {
      promise.resume(with: .failure(.noResources(reason: "libcurl could not be started")))
      return
    }
    let now = ContinuousClock.now
    let transfer = CurlTransfer(request, handle: handle, now: now)
    turnover.use(request.url.host, at: now)
    if turnover.isHigh {
      handle.set(CURLOPT_DNS_CACHE_TIMEOUT, turnover.seconds)
      handle.set(CURLOPT_MAXAGE_CONN, turnover.seconds)
      handle.set(CURLOPT_FORBID_REUSE, !(request.slot?.othersUseHost ?? true))
    }
    transfers[number] = Running(transfer: transfer, promise: promise)
    numbers[handle.pointer] = number
    let code = transfer.isReady ? curl_multi_add_handle(multi, handle.pointer) : CURLM_BAD_EASY_HANDLE
    if code != CURLM_OK {
      end(number, with: .failure(.noResources(reason: String(cString: curl_multi_strerror(code)))))
    }
  }

  private func finishDone() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
        let number = numbers[handle],
        let result = transfers[number]?.transfer.result(ccurl_message_result(message))
      else { continue }
      end(number, with: result)
    }
  }

  /// Fails transfers that have missed a deadline, and returns how long the thread may sleep.
  private func failOverdue(now: ContinuousClock.Instant) -> Duration {
    var next = now + Self.idlePoll
    var overdue: [(CurlThread.Number, DownloadError.Deadline)] = []
    for (number, running) in transfers {
      let check = running.transfer.checkDeadlines(now: now)
      if let missed = check.missed { overdue.append((number, missed)) } else { next = min(next, check.next) }
    }
    for (number, deadline) in overdue {
      guard let result = transfers[number]?.transfer.result(missing: deadline) else { continue }
      end(number, with: result)
    }
    return min(next, nextSilence(now: now) ?? next) - now
  }

  /// Reports transfers that have fallen silent, and returns when the next one may.
  private func nextSilence(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    while true {
      var next: ContinuousClock.Instant?
      var hasFallenSilent = false
      for running in transfers.values {
        let watch = running.transfer.watchSilence(now: now)
        if let time = watch.next { next = min(next ?? time, time) }
        hasFallenSilent = hasFallenSilent || watch.fellSilent
      }
      // Once one transfer of a site is silent, the silence timeout of the others is shorter, so check again.
      if !hasFallenSilent { return next }
    }
  }

  /// Removes a transfer from libcurl, which closes its stream or connection if it is not done, and only then delivers
  /// the result. Does nothing when it has ended already.
  private func end(_ number: CurlThread.Number, with result: Result<Download, DownloadError>) {
    remove(number, after: result)?.resume(with: result)
  }

  /// A separate function so that the transfer is released first: the receiver of the result may request the same body
  /// at once, and must not find its file still locked.
  private func remove(
    _ number: CurlThread.Number, after result: Result<Download, DownloadError>
  ) -> CurlThread.Completion? {
    guard let running = transfers.removeValue(forKey: number) else { return nil }
    if case .failure = result { running.transfer.keepPartialBody() }
    let handle = running.transfer.handle
    numbers.removeValue(forKey: handle.pointer)
    curl_multi_remove_handle(multi, handle.pointer)
    if spareHandles.count < Self.maximumSpareHandles {
      handle.reset()
      spareHandles.append(handle)
    }
    return running.promise
  }
}
