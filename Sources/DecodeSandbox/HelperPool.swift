import CSandbox
import Foundation
package import ImageCodec
import Synchronization
package import ThumbnailCore

/// The helpers of a pipeline. Each that asks gets one to itself: a waiting one, or a new one.
///
/// Blocks the calling thread; so there are never more helpers than threads that ask.
package final class HelperPool: Sendable {
  /// A helper is replaced after so many pictures: what decoders leak counts against its memory limit.
  static let mostServed = 200

  private let isolation: DecodeIsolation
  private let idle = Mutex<[HelperProcess]>([])
  private let busy = Mutex<[pid_t]>([])

  package init(_ isolation: DecodeIsolation) { self.isolation = isolation }

  /// The processes that wait for a picture.
  var waiting: [pid_t] { idle.withLock { $0.map(\.pid) } }

  /// The processes that are at work.
  var working: [pid_t] { busy.withLock { $0 } }

  /// Ends the processes that wait for a picture. Blocks for a moment.
  package func endWaiting() {
    let helpers = idle.withLock { idle in
      defer { idle = [] }
      return idle
    }
    for helper in helpers { helper.end() }
  }

  deinit {
    let helpers = idle.withLock { $0 }
    guard !helpers.isEmpty else { return }
    // Whoever dropped the pipeline may be on a thread that must not wait.
    Thread.detachNewThread { for helper in helpers { helper.end() } }
  }

  /// Has a picture decoded, one result for each variant. What fails for all is each one's failure.
  ///
  /// - Parameter patience: How many times the deadline it may take on the clock. The helper still computes no longer than
  ///   the deadline, but on a busy machine that takes longer.
  package func render(
    _ body: ByteSource, format: ImageFormat, variants: [Variant], limits: DecodeLimits, mostBytes: Int,
    acceptsDamage: Bool = false, patience: Int = 1, cancellation: CancellationFlag
  ) -> [RenderedVariant] {
    let order = HelperRequest(
      format: format, byteCount: body.count, variants: variants.map(\.token), limits: limits,
      acceptsDamage: acceptsDamage)
    let rules = ResponseRules(
      variants: variants, format: format, byteCount: body.count, limits: limits, mostBytes: mostBytes)
    do throws(CodecError) {
      let picture = try Self.file(of: body)
      do throws(HelperFailure) {
        return try render(order, picture, rules, deadline: isolation.deadline * patience, cancellation)
      } catch {
        throw error == .cancelled ? .cancelled : .helperFailed(error)
      }
    } catch {
      return variants.map { RenderedVariant(variant: $0, result: .failure(error)) }
    }
  }

  private func render(
    _ order: HelperRequest, _ picture: FileDescriptor, _ rules: ResponseRules, deadline: Duration,
    _ cancellation: CancellationFlag
  ) throws(HelperFailure) -> [RenderedVariant] {
    var order = order
    var wantsFresh = false
    while true {
      if cancellation.isSet { throw .cancelled }
      let waiting = wantsFresh ? nil : idle.withLock { $0.popLast() }
      let helper: HelperProcess
      if let waiting { helper = waiting } else { helper = try HelperProcess(isolation, cancellation: cancellation) }
      wantsFresh = waiting != nil
      busy.withLock { $0.append(helper.pid) }
      defer { busy.withLock { $0.removeAll { $0 == helper.pid } } }
      do throws(HelperFailure) {
        let results = try helper.decode(
          order, of: picture, rules: rules, deadline: deadline, cancellation: cancellation)
        if helper.served < Self.mostServed { idle.withLock { $0.append(helper) } }
        return results
      } catch {
        // It may have died of what an earlier picture had left behind: only a fresh one's death is this picture's.
        guard case .crashed = error else { throw error }
        if wantsFresh { continue }
        guard order.format == .jpeg2000, !order.usesImageMagick else { throw error }
        order.usesImageMagick = true
      }
    }
  }

  /// The body as an open file that can only be read.
  private static func file(of body: ByteSource) throws(CodecError) -> FileDescriptor {
    switch body {
    case .file(let file, _):
      // Opened anew: the helper gets neither the right to write nor the offset that others share.
      let descriptor = open("/proc/self/fd/\(file.rawValue)", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw .unreadableBody(detail: String(cString: strerror(errno))) }
      return FileDescriptor(owning: descriptor)
    case .memory(let bytes):
      let descriptor = csandbox_memory_file()
      guard descriptor >= 0 else { throw .unreadableBody(detail: String(cString: strerror(errno))) }
      let file = FileDescriptor(owning: descriptor)
      var written = 0
      while written < bytes.count {
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written) }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw .unreadableBody(detail: String(cString: strerror(errno))) }
        written += count
      }
      return file
    }
  }
}
