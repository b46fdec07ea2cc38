import CCurl
import Foundation
import Synchronization
import ThumbnailCore

/// The one thread that talks to libcurl. It owns the multi handle, and with it all connections; others leave commands
/// in a mailbox and wake it.
///
/// The thread starts with the first transfer and ends when this object is dropped.
final class CurlThread: Sendable {
  /// Names a transfer to cancel it.
  typealias Number = UInt64
  typealias Shot = Promise<TransferResponse, DownloadError>

  enum Command: Sendable {
    case start(Number, TransferRequest, Shot)
    case cancel(Number)
    case stop
  }

  /// Nil until the first transfer: whoever finds everything in the cache does not pay for libcurl's start.
  private let mailbox = Mutex<CurlMailbox?>(nil)
  private let lastNumber = Atomic<Number>(0)
  private let maximumIdleConnections: Int

  /// `maximumIdleConnections` connections at most are kept open without being used.
  init(maximumIdleConnections: Int) {
    self.maximumIdleConnections = maximumIdleConnections
  }

  deinit { mailbox.withLock { $0 }?.post(.stop) }

  /// Runs one transfer. Cancelling the task closes it: the result is there once the transfer is gone, and the observer
  /// is not called any more.
  func perform(_ order: TransferRequest) async -> Result<TransferResponse, DownloadError> {
    guard let mailbox = startedMailbox() else {
      return .failure(.unreachable(reason: "libcurl could not be started"))
    }
    let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    let shot = Shot()
    mailbox.post(.start(number, order, shot))
    order.slot?.begin { mailbox.post(.cancel(number)) }
    return await shot.wait { mailbox.post(.cancel(number)) }
  }

  /// The mailbox of the running thread, which is started if it is not.
  private func startedMailbox() -> CurlMailbox? {
    let (mailbox, isNew) = mailbox.withLock { mailbox -> (CurlMailbox?, Bool) in
      if let mailbox { return (mailbox, false) }
      mailbox = CurlMailbox()
      return (mailbox, true)
    }
    guard let mailbox, isNew else { return mailbox }
    let thread = Thread { [maximumIdleConnections] in
      // libcurl leaves signals alone as told (CURLOPT_NOSIGNAL), so a write to a closed connection could end the
      // process. Blocked on this thread, the signal is never delivered.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      CurlLoop(mailbox: mailbox, maximumIdleConnections: maximumIdleConnections).run()
    }
    // Linux takes names of up to 15 characters.
    thread.name = "thumbnail-curl"
    thread.stackSize = 1 << 20
    thread.start()
    return mailbox
  }
}

/// Commands on their way to the curl thread. It owns the multi handle, so that waking and the thread's end cannot meet:
/// the handle goes when both sides have let go of the mailbox.
final class CurlMailbox: @unchecked Sendable {
  // Safety: `multi` is constant; off the curl thread it is only passed to curl_multi_wakeup, which any thread may call.

  /// libcurl's multi handle.
  let multi: UnsafeMutableRawPointer
  private let commands = Mutex<[CurlThread.Command]>([])

  /// Nil when libcurl cannot be initialised or there is no memory.
  init?() {
    guard CurlLibrary.isReady, let multi = curl_multi_init() else { return nil }
    self.multi = multi
  }

  deinit { curl_multi_cleanup(multi) }

  func post(_ command: CurlThread.Command) {
    let isFirst = commands.withLock { commands in
      commands.append(command)
      return commands.count == 1
    }
    // Whoever put the first one in wakes the thread, which takes all of them.
    if isFirst { curl_multi_wakeup(multi) }
  }

  func takeAll() -> [CurlThread.Command] {
    commands.withLock { commands in
      defer { commands = [] }
      return commands
    }
  }
}
