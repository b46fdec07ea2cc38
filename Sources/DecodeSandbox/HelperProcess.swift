import CSandbox
import Glibc
import ImageCodec
import Synchronization
import ThumbnailCore

/// One helper process and the socket to it. Its owner sends one request at a time, and images of one site only: code
/// that has taken over a helper can read and change all later images.
///
/// The process is killed and reaped after its first failure, and on `deinit`.
final class HelperProcess: Sendable {
  /// The CPU time in reserve beyond the deadline, in seconds.
  private static let computingReserve = 5
  /// The time that a limit of CPU time serves for later images: they use only a small part of the reserve meanwhile.
  private static let limitLasts = Duration.milliseconds(250)
  /// The time limit from a fork to the greeting.
  private static let startDeadline = Duration.seconds(20)

  let kind: HelperKind
  /// The site of its images; nil if it decodes only one.
  let site: String?
  let process: ChildProcess
  private let isolation: DecodeIsolation
  private let socket: FileDescriptor
  let samples: SharedSamples
  private let servedCount = Atomic(0)
  /// The memory of the last thumbnail that was received.
  private let spare = SparePixelMemory()
  /// When its computing time was last limited.
  private let limited = Mutex<SuspendingClock.Instant?>(nil)
  /// Nil until it has been received.
  private let greeting = Mutex<HelperGreeting?>(nil)

  /// The number of requests sent to it.
  var served: Int { servedCount.load(ordering: .relaxed) }

  var pid: pid_t { process.pid }

  /// Forks a process.
  init(_ zygote: HelperZygote, site: String?, _ isolation: DecodeIsolation) throws(HelperFailure) {
    (kind, self.site, self.isolation) = (zygote.kind, site, isolation)
    (process, socket, samples) = try zygote.fork(memoryLimit: isolation.memoryLimit.bytes)
  }

  /// Waits until it is ready. Returns the parts of its confinement that the machine lacks.
  @discardableResult
  func awaitGreeting(_ cancellation: CancellationFlag) throws(HelperFailure) -> [ConfinementGap] {
    if let known = greeting.withLock({ $0 }) { return known.gaps }
    let received: HelperGreeting
    do throws(HelperFailure) {
      var channel = HelperChannel(socket: socket, deadline: Self.startDeadline, cancellation: cancellation)
      received = try channel.receive(HelperGreeting.self)
    } catch {
      let ending = process.end(after: error)
      if ending == .cancelled { throw .cancelled }
      throw .cannotStart(detail: "it did not greet (\(ending))")
    }
    greeting.withLock { $0 = received }
    for gap in received.gaps { Log.codec.debug("\(gap)") }
    if isolation.requiresConfinement, let gap = received.gaps.first(where: \.isGrave) {
      process.end()
      throw .notConfined(how: "\(gap)")
    }
    return received.gaps
  }

  /// Decodes one image and validates the response. Nil if that takes another kind of helper.
  ///
  /// - Parameter meanwhile: What this thread does while the helper decodes; the deadline leaves it out.
  func decode(
    _ image: ByteSource, _ request: HelperRequest, _ cancellation: CancellationFlag, meanwhile: () -> Void
  ) throws(HelperFailure) -> DecodedImage? {
    try awaitGreeting(cancellation)
    servedCount.add(1, ordering: .relaxed)
    limitComputing()
    do throws(HelperFailure) {
      var channel = HelperChannel(
        socket: socket, deadline: isolation.deadline * request.patience, cancellation: cancellation)
      try channel.send(request, image)
      channel.pause(meanwhile)
      let response = try channel.receive(HelperResponse.self)
      if response.needsLibvips {
        guard kind != .full, response.outcomes.isEmpty else { throw .nonsense(detail: "libvips is not enough") }
        return nil
      }
      let size = try request.check(response)
      var made = DecodedImage(size: size, need: response.need)
      (made.index, made.usesPreview) = (response.index, response.usesPreview)
      (made.plan, made.planBytes) = (response.plan, response.planBytes)
      if made.need != nil { return made }
      var used = 0
      for (variant, outcome) in zip(request.variants, response.outcomes) {
        switch outcome {
        case .failure(let error): made.results.append(Rendered(variant: variant, result: .failure(error)))
        case .pixels(let pixels): made.results.append(try receive(pixels, for: variant, &channel, &used))
        }
      }
      return made
    } catch {
      throw process.end(after: error)
    }
  }

  /// Receives the bytes of a thumbnail whose response has passed the rules.
  private func receive(
    _ pixels: HelperResponse.Pixels, for variant: Variant, _ channel: inout HelperChannel, _ used: inout Int
  ) throws(HelperFailure) -> Rendered<ThumbnailRaster> {
    var failure: HelperFailure?
    let raster: Raster
    do throws(CodecError) {
      raster = try Raster(
        size: pixels.rasterSize, bands: pixels.bands, space: pixels.space, losesChroma: pixels.losesChroma, from: spare
      ) { buffer in
        do throws(HelperFailure) {
          if !pixels.isShared {
            try channel.receive(into: buffer)
          } else if !samples.read(into: buffer, behind: &used) {
            throw .nonsense(detail: "samples beyond the shared memory")
          }
        } catch { failure = error }
      }
    } catch {
      // There is no memory for it, and the rest cannot be skipped.
      throw .nonsense(detail: "\(error)")
    }
    if let failure { throw failure }
    let profile = pixels.profileLength == nil ? nil : try channel.receive(pixels.profileLength ?? 0)
    return Rendered(
      variant: variant,
      result: .success(
        ThumbnailRaster(
          variant: variant, size: pixels.size, raster: raster, timing: pixels.timing,
          kept: pixels.kept(variant.metadata, profile: profile), isDamaged: pixels.isDamaged)))
  }

  /// Limits the CPU time from now on, as a backstop to the deadline.
  private func limitComputing() {
    let now = SuspendingClock.now
    let isLimited = limited.withLock { last in
      if let last, now - last < Self.limitLasts { return true }
      last = now
      return false
    }
    if isLimited { return }
    var clock: clockid_t = 0
    var used = timespec()
    guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &used) == 0 else { return }
    let most = Int((isolation.deadline / .seconds(1)).rounded(.up))
    _ = csandbox_limit_cpu_time(pid, UInt64(used.tv_sec + most + Self.computingReserve))
  }
}
