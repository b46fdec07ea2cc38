import Foundation
import TestOrigin
import Testing

@testable import Thumbnailer

/// Helpers for tests: the real program, or a stand-in.
struct HelperBench {
  let isolation: DecodeIsolation
  let pool: HelperPool
  private let workers: WorkerPool

  /// The program that was built beside the tests.
  static let executable: URL = {
    let test = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: test).deletingLastPathComponent().appendingPathComponent("thumbs")
  }()

  /// `memory` also tells this bench's processes from those of other tests.
  init(_ executable: URL = executable, memory: Int = 512 << 20, deadline: Duration = .seconds(30), threads: Int = 1) {
    var isolation = DecodeIsolation.helper(executable: executable)
    isolation.memoryLimit = ByteSize(bytes: memory)
    isolation.deadline = deadline
    self.isolation = isolation
    pool = HelperPool(isolation)
    workers = WorkerPool(name: "helpers", threads: threads, onThreadExit: Codec.threadWillEnd)
  }

  /// Has a picture decoded on a thread of its own; cancelling the task gives it up.
  func render(
    _ bytes: [UInt8], _ format: ImageFormat, _ variants: [Variant] = [Variant(size: PixelSize(160, 120))],
    limits: DecodeLimits = DecodeLimits(), mostBytes: Int = 8 << 20
  ) async throws -> [Result<Thumbnail, CodecError>] {
    let pool = pool
    let results: Result<[RenderedVariant], Never> = try await workers.run(priority: PriorityControl(.visible)) { flag in
      .success(
        pool.render(
          .memory(bytes), format: format, variants: variants, limits: limits, mostBytes: mostBytes,
          cancellation: flag))
    }
    return results.get().map(\.result)
  }

  /// Why a picture has no thumbnail.
  func failure(_ bytes: [UInt8], _ format: ImageFormat) async throws -> CodecError? {
    guard case .failure(let error)? = try await render(bytes, format).first else { return nil }
    return error
  }

  /// The processes of this bench, at work or waiting.
  var processes: [pid_t] { HelperBench.processes(marked: "\(isolation.memoryLimit.bytes)") }

  /// The helpers with this word on their command line.
  static func processes(marked mark: String) -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { pid in
      guard let line = try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8) else { return false }
      return line.contains("\0decode-helper\0") && line.contains("\0\(mark)\0")
    }
  }

  /// Whether there is such a process, or one that nobody has collected.
  static func exists(_ pid: pid_t) -> Bool { FileManager.default.fileExists(atPath: "/proc/\(pid)") }

  /// A picture of 60,000 rows without any of their pixels, which libvips 8.14.1 reads for ever.
  static let endless = Array("P4\n10 60000 0000000000000000000000".utf8)
}
