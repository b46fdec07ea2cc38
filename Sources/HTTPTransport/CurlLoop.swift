import CCurl
import Foundation
import ThumbnailCore

/// What the curl thread does: takes commands, lets libcurl work, hands out results, watches deadlines. It lives on that
/// thread only.
final class CurlLoop {
  private struct Running {
    let transfer: CurlTransfer
    let shot: CurlThread.Shot
  }

  /// So long the thread sleeps when nothing runs; commands wake it.
  private static let idlePoll = Duration.seconds(60)
  /// Handles kept for later transfers.
  private static let maximumSpareHandles = 16

  private let mailbox: CurlMailbox
  private let multi: UnsafeMutableRawPointer
  private var transfers: [CurlThread.Number: Running] = [:]
  private var numbers: [UnsafeMutableRawPointer: CurlThread.Number] = [:]
  private var spareHandles: [CurlEasyHandle] = []

  init(mailbox: CurlMailbox, maximumIdleConnections: Int) {
    self.mailbox = mailbox
    multi = mailbox.multi
    ccurl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    ccurl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, maximumIdleConnections)
  }

  /// Returns when told to stop.
  func run() {
    while obey(mailbox.takeAll()) {
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      finishDone()
      let timeout = failOverdue(now: .now)
      curl_multi_poll(multi, nil, 0, Int32(timeout.milliseconds), nil)
    }
    for number in Array(transfers.keys) { end(number, with: .failure(.cancelled)) }
  }

  /// False when told to stop.
  private func obey(_ commands: [CurlThread.Command]) -> Bool {
    for command in commands {
      switch command {
      case .start(let number, let order, let shot): start(number, order, shot)
      case .cancel(let number): end(number, with: .failure(.cancelled))
      case .stop: return false
      }
    }
    return true
  }

  private func start(_ number: CurlThread.Number, _ order: TransferRequest, _ shot: CurlThread.Shot) {
    guard let handle = spareHandles.popLast() ?? CurlEasyHandle() else {
      shot.resume(with: .failure(.unreachable(reason: "libcurl could not be started")))
      return
    }
    let transfer = CurlTransfer(order, handle: handle, now: .now)
    transfers[number] = Running(transfer: transfer, shot: shot)
    numbers[handle.pointer] = number
    let code = curl_multi_add_handle(multi, handle.pointer)
    if code != CURLM_OK {
      end(number, with: .failure(.unreachable(reason: String(cString: curl_multi_strerror(code)))))
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

  /// Ends what has missed a deadline and tells how long the thread may sleep.
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

  /// Has the transfers that have fallen silent say so, and tells when the next may.
  private func nextSilence(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    while true {
      var next: ContinuousClock.Instant?
      var hasNews = false
      for running in transfers.values {
        let watch = running.transfer.watchSilence(now: now)
        if let time = watch.next { next = min(next ?? time, time) }
        hasNews = hasNews || watch.fellSilent
      }
      // For a silent one, the patience with the others is shorter.
      if !hasNews { return next }
    }
  }

  /// Takes a transfer out of libcurl's hands, which closes its stream or connection if it is not done, and only then
  /// hands over the result. Nothing happens when it has ended already.
  private func end(_ number: CurlThread.Number, with result: Result<TransferResponse, DownloadError>) {
    takeOut(number, after: result)?.resume(with: result)
  }

  /// In a function of its own: whoever gets the result may ask for the same body at once, and must not find its file
  /// locked by a transfer that is not gone yet.
  private func takeOut(
    _ number: CurlThread.Number, after result: Result<TransferResponse, DownloadError>
  ) -> CurlThread.Shot? {
    guard let running = transfers.removeValue(forKey: number) else { return nil }
    if case .failure = result { running.transfer.keepPartialBody() }
    let handle = running.transfer.handle
    numbers.removeValue(forKey: handle.pointer)
    curl_multi_remove_handle(multi, handle.pointer)
    if spareHandles.count < Self.maximumSpareHandles {
      handle.reset()
      spareHandles.append(handle)
    }
    return running.shot
  }
}
