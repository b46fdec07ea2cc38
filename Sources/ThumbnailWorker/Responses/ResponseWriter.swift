import Foundation
import Synchronization
import ThumbnailCore

/// Writes responses to a descriptor, on a thread of its own: each at once, or several together if they come faster than
/// they can be written.
final class ResponseWriter: Sendable {
  private struct State {
    var pending: [UInt8] = []
    /// The memory of pending responses, released when they are written.
    var held: [WeightedSemaphore.Reservation] = []
    var isWriting = false
    var failure: SystemFailure?
  }

  private let file: FileDescriptor
  private let pool = WorkerPool(name: "thumbnailer.worker.write", threads: 1)
  private let state = Mutex(State())
  private let onFailure: @Sendable () -> Void

  /// - Parameter onFailure: Called once, when a write has failed; nothing is written after that.
  init(_ file: FileDescriptor, onFailure: @escaping @Sendable () -> Void) {
    (self.file, self.onFailure) = (file, onFailure)
  }

  /// Why responses could not be written.
  var failure: SystemFailure? { state.withLock(\.failure) }

  /// Queues a response without its line feed.
  ///
  /// - Parameter held: Released once it is written.
  func send(_ line: [UInt8], holding held: [WeightedSemaphore.Reservation] = []) {
    let startsWriting = state.withLock { state in
      guard state.failure == nil else { return false }
      state.pending.append(contentsOf: line)
      state.pending.append(UInt8(ascii: "\n"))
      state.held += held
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if startsWriting { Task { await finish() } }
  }

  /// Waits until everything is written, or writing has failed.
  func finish() async {
    await pool.runToEnd { [self] in writePending() }
  }

  private func writePending() {
    while true {
      let (bytes, held) = state.withLock { state in
        defer { (state.pending, state.held) = ([], []) }
        state.isWriting = !state.pending.isEmpty
        return (state.pending, state.held)
      }
      if bytes.isEmpty { return }
      do throws(SystemFailure) {
        try NewFile.write(bytes, to: file.rawValue)
      } catch {
        return fail(with: error)
      }
      withExtendedLifetime(held) {}
    }
  }

  private func fail(with error: SystemFailure) {
    let isFirst = state.withLock { state in
      defer { (state.failure, state.pending, state.held) = (state.failure ?? error, [], []) }
      return state.failure == nil
    }
    if isFirst { onFailure() }
  }

  /// Looks each second whether the reader has gone, which a pipe and a socket tell without a write, until the task is
  /// cancelled. A worker may wait for hours for a server, and would for a reader that was killed.
  func watchReader() async {
    while (try? await Task.sleep(for: .seconds(1))) != nil {
      var request = pollfd(fd: file.rawValue, events: 0, revents: 0)
      guard poll(&request, 1, 0) > 0, request.revents & Int16(POLLERR | POLLHUP) != 0 else { continue }
      return fail(with: SystemFailure(code: EPIPE))
    }
  }
}
