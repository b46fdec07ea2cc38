import CCurl
import Foundation
import Synchronization
import ThumbnailCore

/// The one thread that uses libcurl. It owns the multi handle, and with it all connections; other threads post commands
/// to a mailbox and wake it.
///
/// The thread starts with the first transfer and ends when this object is dropped.
final class CurlThread: Sendable {
  /// The promise of a transfer's result, which also identifies the transfer.
  typealias Completion = Promise<Download, DownloadError>

  enum Command: Sendable {
    case start(Transfer, Completion)
    case cancel(Completion)
    case stop
  }

  /// Nil until the first transfer, so that a run with only cache hits does not start libcurl.
  private let mailbox = Mutex<CurlMailbox?>(nil)
  private let maximumIdleConnections: Int

  /// Keeps at most `maximumIdleConnections` idle connections open.
  init(maximumIdleConnections: Int) {
    self.maximumIdleConnections = maximumIdleConnections
  }

  deinit { mailbox.withLock { $0 }?.post(.stop) }

  /// Runs one transfer. Cancelling the task closes the transfer. The observer is not called after this returns.
  func perform(_ transfer: Transfer) async -> Result<Download, DownloadError> {
    guard let mailbox = startedMailbox() else {
      let reason = CurlLibrary.startFailure ?? "no memory, thread or socket is left"
      return .failure(.noResources(reason: "libcurl could not be started: \(reason)"))
    }
    let completion = Completion()
    mailbox.post(.start(transfer, completion))
    let cancel = { @Sendable in mailbox.post(.cancel(completion)) }
    transfer.download?.begin(stop: cancel)
    return await completion.wait(onCancel: cancel)
  }

  /// The thread's mailbox; starts the thread if necessary. Nil if that fails; the next transfer tries again.
  private func startedMailbox() -> CurlMailbox? {
    mailbox.withLock { mailbox in
      if mailbox == nil, let new = CurlMailbox(), start(new) { mailbox = new }
      return mailbox
    }
  }

  /// Starts the thread. Returns false if the system has no thread left.
  private func start(_ mailbox: CurlMailbox) -> Bool {
    SystemThread.start(name: "thumbnail-curl", stackBytes: 1 << 20) { [maximumIdleConnections] in
      // With CURLOPT_NOSIGNAL libcurl does not ignore SIGPIPE, so a write to a closed connection could end the process.
      // The thread blocks the signal, so it is never delivered.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      CurlLoop(mailbox: mailbox, maximumIdleConnections: maximumIdleConnections).run()
    }
  }
}

/// The commands for the curl thread. Owns the multi handle, which is freed when both sides have dropped the mailbox, so
/// that waking the thread cannot race with its end.
final class CurlMailbox: @unchecked Sendable {
  // Safety: `multi` is constant; other threads only pass it to curl_multi_wakeup, which is thread-safe.

  /// libcurl's multi handle.
  let multi: UnsafeMutableRawPointer
  private let commands = Mutex<[CurlThread.Command]>([])

  /// Nil when libcurl cannot be initialised, memory is exhausted, or the thread could not be woken.
  init?() {
    guard CurlLibrary.startFailure == nil, let multi = curl_multi_init() else { return nil }
    // libcurl makes a handle even if there are no sockets left to wake it.
    guard curl_multi_wakeup(multi) == CURLM_OK else {
      curl_multi_cleanup(multi)
      return nil
    }
    self.multi = multi
  }

  deinit { curl_multi_cleanup(multi) }

  func post(_ command: CurlThread.Command) {
    let isFirst = commands.withLock { commands in
      commands.append(command)
      return commands.count == 1
    }
    // Only the first command wakes the thread, which then takes all of them.
    if isFirst { curl_multi_wakeup(multi) }
  }

  func takeAll() -> [CurlThread.Command] {
    commands.withLock { commands in
      defer { commands = [] }
      return commands
    }
  }
}
