import Foundation
import Testing

@testable import DecodeSandbox
@testable import ImageCodec
import TestSupport
@testable import ThumbnailCore

/// A pool of helper processes for tests, running the real executable or a stand-in.
struct HelperBench {
  let isolation: DecodeIsolation
  let pool: HelperPool
  private let workers: WorkerPool

  /// The executable built next to the tests.
  static let executable: URL = {
    let test = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: test).deletingLastPathComponent().appendingPathComponent("thumbs-decode")
  }()

  /// `memory` is each helper's limit in bytes.
  init(_ executable: URL = executable, memory: Int = 512 << 20, deadline: Duration = .seconds(600), threads: Int = 1) {
    var isolation = DecodeIsolation.helper(executable: executable)
    isolation.memoryLimit = ByteSize(bytes: memory)
    isolation.deadline = deadline
    self.isolation = isolation
    pool = HelperPool(isolation)
    workers = WorkerPool(name: "helpers", threads: threads, onThreadExit: Codec.threadWillEnd)
  }

  /// Decodes an image on a worker thread; cancelling the task cancels the decode.
  func render(
    _ bytes: [UInt8], _ format: ImageFormat, _ variants: [Variant] = [Variant(size: PixelSize(160, 120))],
    limits: DecodeLimits = DecodeLimits(), probe: ImageProbe? = nil, mostBytes: Int = 8 << 20,
    acceptsDamage: Bool = false, hasSpareProcessor: Bool = false, site: String? = ""
  ) async throws -> [Result<Thumbnail, CodecError>] {
    let pool = pool
    var request = HelperRequest(format, variants, limits: limits, probe: probe, mostBytes: mostBytes)
    (request.terms.acceptsDamage, request.hasSpareProcessor, request.site) = (acceptsDamage, hasSpareProcessor, site)
    let results: Result<[RenderedVariant], Never> = try await workers.run(priority: PriorityControl(.visible)) {
      [request] flag in
      let made = pool.decode(.memory(bytes), request, cancellation: flag)
      let source = SourceDescription(size: made.size ?? PixelSize(0, 0), format: format, byteCount: bytes.count)
      return .success(ThumbnailFinisher(source: source).finish(made.results, cancellation: flag))
    }
    return results.get().map(\.result)
  }

  /// The error of the first variant; nil if it succeeded.
  func failure(_ bytes: [UInt8], _ format: ImageFormat) async throws -> CodecError? {
    guard case .failure(let error)? = try await render(bytes, format).first else { return nil }
    return error
  }

  /// The working helper process, once it has used some CPU time: earlier, it might not have received the image.
  func busyProcess() async throws -> pid_t {
    await poll { pool.working.contains { Self.cpuTicks($0) > 30 } }
    return try #require(pool.working.first)
  }

  /// The CPU time of a process, in hundredths of a second.
  private static func cpuTicks(_ pid: pid_t) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return 0 }
    // The name, in brackets, may contain spaces.
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 12 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0
  }

  /// Whether the process exists, possibly as a zombie.
  static func exists(_ pid: pid_t) -> Bool { FileManager.default.fileExists(atPath: "/proc/\(pid)") }

  /// A drawing of noise with so many octaves that it takes weeks.
  static let endless = Array(
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><filter id="f">\
    <feTurbulence baseFrequency="0.5" numOctaves="2000000000"/></filter>\
    <rect width="64" height="64" filter="url(#f)"/></svg>
    """.utf8)
}
