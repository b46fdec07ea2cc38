import CSandbox
import Dispatch
import FoundationEssentials
import Glibc
package import ImageCodec
import Synchronization
package import ThumbnailCore

/// The helper processes of a pipeline. Each caller has one to itself: an idle one of the same site, or a new one.
///
/// Blocks the calling thread, so there are never more working helpers than calling threads.
package final class HelperPool: Sendable {
  /// A helper is replaced after this many images, because memory that decoders leak counts against its limit.
  static let mostServed = 200
  /// The same for helpers without libvips, whose few decoders leak nothing.
  static let mostServedWithoutLibvips = 1000

  private let isolation: DecodeIsolation
  private let executable: HelperProgram
  /// The most helpers that wait for images of their sites; fewer if files or memory are scarce. The one that has waited
  /// longest ends.
  private static let mostWaiting = 16
  /// The most of them that keep the memory for the samples of large thumbnails.
  private static let mostLarge = 4

  /// One for each helper that may work.
  private let turns: DispatchSemaphore
  private let mostWaiting: Int
  private let zygotes: Mutex<[HelperZygote]>
  /// The one that has waited longest is the first.
  private let idle = Mutex<[HelperProcess]>([])
  private let busy = Mutex<[pid_t]>([])

  /// At most `mostWorking` of its helpers work at once. With `takesPrepared` it uses the zygote that
  /// `DecodeHelper.prepare()` has started.
  package init(_ isolation: DecodeIsolation, mostWorking: Int = 256, takesPrepared: Bool = false) {
    self.isolation = isolation
    let prepared = takesPrepared ? HelperZygote.takePrepared(of: HelperProgram.path(isolation)) : nil
    executable = prepared?.program ?? HelperProgram(isolation)
    zygotes = Mutex(prepared.map { [$0] } ?? [])
    turns = DispatchSemaphore(value: mostWorking)
    var files = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    mostWaiting = max(2, min(Self.mostWaiting, Int(clamping: files.rlim_cur) / 64, isolation.memoryLimit.bytes >> 26))
  }

  /// The path of the program that decodes.
  package var program: String { executable.path }

  /// The idle processes.
  var waiting: [pid_t] { idle.withLock { $0.map(\.pid) } }

  /// The processes that fork.
  var zygotePIDs: [pid_t] { zygotes.withLock { $0.map(\.process.pid) } }

  /// The busy processes.
  var working: [pid_t] { busy.withLock { $0 } }

  /// The parts of a helper's confinement that the machine lacks. A helper is started to find out.
  package func gaps() throws(CodecError) -> [ConfinementGap] {
    do throws(HelperFailure) {
      return try fork(.full, for: "").awaitGreeting(CancellationFlag())
    } catch {
      throw .helperFailed(error)
    }
  }

  /// Starts a zygote, if there is none, without waiting for it, so that it is ready for the first image. Call it on a
  /// lasting thread, because the zygote ends with it.
  package func prepare() { _ = try? zygote(.common) }

  /// The process that forks helpers of a kind, and whether it was started for this caller.
  private func zygote(_ kind: HelperKind) throws(HelperFailure) -> (HelperZygote, isNew: Bool) {
    try zygotes.withLock { zygotes in
      Result { () throws(HelperFailure) in
        if let known = zygotes.first(where: { $0.kind == kind }) { return (known, false) }
        let zygote = try HelperZygote(kind, executable)
        zygotes.append(zygote)
        return (zygote, true)
      }
    }.get()
  }

  /// A new helper. A zygote that has ended meanwhile is replaced: the caller fails only if a zygote started for it
  /// fails.
  private func fork(_ kind: HelperKind, for site: String?) throws(HelperFailure) -> HelperProcess {
    while true {
      let (zygote, isNew) = try zygote(kind)
      do throws(HelperFailure) {
        return try HelperProcess(zygote, site: site, isolation)
      } catch {
        zygotes.withLock { $0.removeAll { $0 === zygote } }
        if isNew { throw error }
      }
    }
  }

  /// Ends the processes that do not work. Blocks briefly.
  package func endWaiting() { Self.end(takeWaiting()) }

  private func takeWaiting() -> [ChildProcess] {
    let helpers = idle.withLock { idle in
      defer { idle = [] }
      return idle.map(\.process)
    }
    return helpers
      + zygotes.withLock { zygotes in
        defer { zygotes = [] }
        return zygotes.map(\.process)
      }
  }

  /// Ends processes, all at once.
  private static func end(_ processes: [ChildProcess]) {
    for process in processes { process.beginEnd() }
    for process in processes { process.end() }
  }

  deinit {
    let processes = takeWaiting()
    guard !processes.isEmpty else { return }
    // The pipeline may be released on a thread that must not block.
    let end: @Sendable () -> Void = { Self.end(processes) }
    if !SystemThread.start(name: "thumbnailer.helpers", stackBytes: 512 << 10, end) { end() }
  }

  /// Decodes an image in a helper. An error that concerns all variants is each one's failure, without a size.
  ///
  /// - Parameter meanwhile: What this thread does while it waits, if it has not done it already.
  package func decode(
    _ body: ByteSource, _ request: HelperRequest, cancellation: CancellationFlag, meanwhile: () -> Void = {}
  ) -> DecodedImage {
    do throws(CodecError) {
      let image = try Self.image(in: body, request.format)
      if turns.wait(timeout: .now()) == .timedOut {
        meanwhile()
        while turns.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
          if cancellation.isSet { throw .cancelled }
        }
      }
      defer { turns.signal() }
      do throws(HelperFailure) {
        return try decode(image: image, request, cancellation, meanwhile: meanwhile)
      } catch {
        throw error == .cancelled ? .cancelled : .helperFailed(error)
      }
    } catch {
      return request.failed(error)
    }
  }

  private func decode(
    image: ByteSource, _ request: HelperRequest, _ cancellation: CancellationFlag, meanwhile: () -> Void
  ) throws(HelperFailure) -> DecodedImage {
    var kind = request.kind
    var wantsFresh = false
    while true {
      if cancellation.isSet { throw .cancelled }
      let waiting = wantsFresh ? nil : request.site.flatMap { takeIdle(kind, of: $0) }
      let helper: HelperProcess
      if let waiting { helper = waiting } else { helper = try fork(kind, for: request.site) }
      // A new one takes a while to start.
      if waiting == nil { meanwhile() }
      wantsFresh = waiting != nil
      busy.withLock { $0.append(helper.pid) }
      defer { busy.withLock { $0.removeAll { $0 == helper.pid } } }
      do throws(HelperFailure) {
        let made = try helper.decode(image, request, cancellation, meanwhile: meanwhile)
        let most = helper.kind == .full ? Self.mostServed : Self.mostServedWithoutLibvips
        // A helper without a site ends with its image, and leaves its place to helpers that will be used again.
        if helper.served < most, request.site != nil { keep(helper) }
        if let made { return made }
        (kind, wantsFresh) = (.full, false)
      } catch {
        // The helper may have crashed because of an earlier image: only a fresh one's crash is due to this image.
        guard case .crashed = error else { throw error }
        if !wantsFresh { throw error }
      }
    }
  }

  /// An idle helper of a site that can decode at least the formats of this kind.
  private func takeIdle(_ kind: HelperKind, of site: String) -> HelperProcess? {
    idle.withLock { idle in
      let index =
        idle.lastIndex { $0.site == site && $0.kind == kind } ?? idle.lastIndex { $0.site == site && $0.kind > kind }
      return index.map { idle.remove(at: $0) }
    }
  }

  /// Keeps a helper for the next image of its site.
  private func keep(_ helper: HelperProcess) {
    let surplus = idle.withLock { idle in
      idle.append(helper)
      idle.dropLast(Self.mostLarge).last?.samples.shrink()
      return idle.count > mostWaiting ? idle.removeFirst() : nil
    }
    surplus?.process.end()
  }

  /// The body for the helper: the bytes of a short one, or a file that is open for reading only. The readers of formats
  /// that only a helper decodes need a file.
  private static func image(in body: ByteSource, _ format: ImageFormat) throws(CodecError) -> ByteSource {
    switch body {
    case .memory(let bytes) where format.isReadInProcess && bytes.count <= HelperRequest.longestInline: return body
    case .part: return .file(try copy(of: body), count: body.count)
    case .file where format.isReadByPath: return .file(try copy(of: body), count: body.count)
    case .file(let file, let count):
      // All read it at positions, so the helper may share its offset, but not write access.
      if fcntl(file.rawValue, F_GETFL) & O_ACCMODE == O_RDONLY { return body }
      let descriptor = open("/proc/self/fd/\(file.rawValue)", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw .unreadableBody(detail: SystemFailure.last.reason) }
      return .file(FileDescriptor(owning: descriptor), count: count)
    case .memory: return .file(try copy(of: body), count: body.count)
    }
  }

  /// A sealed file in memory with the bytes of the body: otherwise bytes that one helper writes would reach the next
  /// helper of the image.
  private static func copy(of body: ByteSource) throws(CodecError) -> FileDescriptor {
    let descriptor = csandbox_memory_file()
    guard descriptor >= 0 else { throw .unreadableBody(detail: SystemFailure.last.reason) }
    let file = FileDescriptor(owning: descriptor)
    do {
      if case .memory(let bytes) = body {
        try NewFile.write(bytes, to: descriptor)
      } else {
        for start in stride(from: 0, to: body.count, by: 1 << 20) {
          try NewFile.write(try body.read(at: start, length: 1 << 20), to: descriptor)
        }
      }
    } catch {
      throw .unreadableBody(detail: (error as? SystemFailure)?.reason ?? "\(error)")
    }
    guard csandbox_seal(descriptor) == 0 else { throw .unreadableBody(detail: SystemFailure.last.reason) }
    return file
  }
}

extension ImageFormat {
  /// Whether an image file is copied into memory for the helper. OpenEXR opens it by its path, and a helper can reach
  /// only files in memory.
  package var isReadByPath: Bool { self == .openEXR }
}
