import CSandbox
import FoundationEssentials
import Glibc
package import ImageCodec
package import ThumbnailCore

/// Takes posters from films with the program ffmpeg, in a confined process for each.
package final class FilmReader: Sendable {
  private let isolation: DecodeIsolation
  private let helper: HelperProgram
  /// The path of ffmpeg.
  package let program: String

  /// The most pixels of a film's frame: 8K has half as many.
  private static let mostPixels = 1 << 26
  /// What is kept of ffmpeg's messages, in bytes.
  private static let longestText = 4096
  /// A film whose running time is unknown is searched for so many seconds; decoding all frames takes more time.
  private static let (unknownTenth, mostSeconds) = (30.0, 60.0)

  /// Nil where the system has no ffmpeg, or without helpers.
  package init?(_ isolation: DecodeIsolation, path: String = ProcessInfo.processInfo.environment["PATH"] ?? "") {
    let folders = path.split(separator: ":").filter { $0.hasPrefix("/") }
    guard !isolation.isInProcess,
      let program = folders.map({ "\($0)/ffmpeg" }).first(where: { (file: String) in access(file, X_OK) == 0 })
    else { return nil }
    (self.isolation, self.program, helper) = (isolation, program, HelperProgram(isolation))
  }

  /// Why there is no poster.
  package enum Failure: Error {
    /// The film is the reason.
    case film(reason: String)
    case helper(HelperFailure)
  }

  /// A frame that is not black from the film's first tenth, upright and with square pixels, as an uncompressed TIFF in
  /// a file in memory. A film that is black there has a black poster.
  ///
  /// - Parameters:
  ///   - side: The most pixels of its longer side, or of its shorter one if it `covers`.
  package func poster(
    of film: FileDescriptor, _ header: FilmHeader, side: Int, covers: Bool, _ cancellation: CancellationFlag
  ) throws(Failure) -> FileDescriptor {
    let started = SuspendingClock.now
    let tenth = max(0.001, header.seconds.map { $0 / 10 } ?? Self.unknownTenth)
    var attempts = [
      Attempt(start: 0, seconds: tenth, takesAll: false),
      Attempt(start: 0, seconds: min(tenth, Self.mostSeconds), takesAll: true),
    ]
    if header.seconds != nil {
      // The last keyframe before that is taken, and those behind it.
      attempts.insert(Attempt(start: tenth * 0.8, seconds: tenth * 0.2, takesAll: false), at: 0)
    }
    let most = covers ? Self.mostPixels : min(Self.mostPixels, side * side)
    var best: FilmFrame?
    var failure = Failure.film(reason: "no frame of it could be decoded")
    for attempt in attempts {
      let arguments = attempt.arguments(header.demuxer, scale: Self.scale(side, covers), mostPixels: Self.mostPixels)
      do throws(Failure) {
        try read(film, arguments, most: most, since: started, cancellation) { frame in
          if frame.light > best?.light ?? -1 { best = frame }
          return frame.isBlack
        }
      } catch {
        if case .helper(let reason) = error, best == nil || reason == .cancelled { throw error }
        failure = error
      }
      if let best, !best.isBlack { break }
    }
    guard let best else { throw failure }
    do throws(SystemFailure) {
      return try best.file()
    } catch {
      throw .helper(.cannotStart(detail: "no memory for a poster: \(error.reason)"))
    }
  }

  /// A part of a film in which a frame is looked for.
  private struct Attempt {
    var start: Double
    var seconds: Double
    /// Whether all frames are decoded, and not only keyframes.
    var takesAll: Bool

    func arguments(_ demuxer: String, scale: String, mostPixels: Int) -> [String] {
      // One thread and no sound; no protocol but files, of which the process can open one.
      var arguments = ["-v", "error", "-nostdin", "-protocol_whitelist", "file", "-f", demuxer, "-threads", "1"]
      arguments += ["-max_pixels", "\(mostPixels)", "-an", "-sn", "-dn", "-noaccurate_seek"]
      if start > 0 { arguments += ["-ss", Self.decimal(start)] }
      if !takesAll { arguments += ["-skip_frame", "nokey"] }
      arguments += ["-t", Self.decimal(seconds), "-i", "file:/dev/fd/0", "-map", "0:V:0", "-filter_threads", "1"]
      // The times make the muxer repeat and drop no frame.
      arguments += ["-vf", "setpts=N/25/TB,\(scale)", "-r", "25", "-frames:v", takesAll ? "2000" : "100"]
      return arguments + ["-f", "image2pipe", "-c:v", "ppm", "pipe:1"]
    }

    private static func decimal(_ seconds: Double) -> String {
      let thousandths = Int(min(seconds, 1e9) * 1000)
      let rest = "\(thousandths % 1000)"
      return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
  }

  private static func scale(_ side: Int, _ covers: Bool) -> String {
    let factor = "min(1,\(side)/\(covers ? "min" : "max")(iw*sar,ih))"
    return "scale=w='max(1,round(iw*sar*\(factor)))':h='max(1,round(ih*\(factor)))':flags=area"
  }

  /// Runs ffmpeg, and passes its frames to `body` until that returns false.
  private func read(
    _ film: FileDescriptor, _ arguments: [String], most: Int, since started: SuspendingClock.Instant,
    _ cancellation: CancellationFlag, _ body: (FilmFrame) -> Bool
  ) throws(Failure) {
    let settings = FilmHelper.Settings(
      memoryLimit: isolation.memoryLimit.bytes, seconds: Int((isolation.deadline / .seconds(1)).rounded(.up)),
      program: program)
    var failure: Failure?
    do throws(HelperFailure) {
      let (process, output, errors) = try start([FilmHelper.command] + settings.arguments + arguments, film)
      var (bytes, text, hearsErrors): ([UInt8], [UInt8], Bool) = ([], [], true)
      while true {
        while let frame = try FilmFrame(takenFrom: &bytes, most: most) {
          guard body(frame) else { return process.end() }
        }
        let passed = SuspendingClock.now - started
        if cancellation.isSet { throw .cancelled }
        if passed >= isolation.deadline { throw .tooSlow(milliseconds: Int(passed / .milliseconds(1))) }
        var polled = [output, errors].map { pollfd(fd: $0.rawValue, events: Int16(POLLIN), revents: 0) }
        // It may close its errors first.
        if !hearsErrors { polled[1].fd = -1 }
        guard poll(&polled, 2, Self.interval) > 0 else { continue }
        if polled[1].revents != 0 { hearsErrors = Self.receive(errors, &text) }
        if text.count > Self.longestText { text.removeFirst(text.count - Self.longestText) }
        if polled[0].revents != 0, !Self.receive(output, &bytes) { break }
      }
      let ending = process.end(after: .crashed(how: "it closed its output"))
      Self.receive(errors, &text)
      try checkEnding(ending, hasSpoken: !text.isEmpty)
      if let reason = Self.reason(text) { failure = .film(reason: reason) }
    } catch {
      throw .helper(error)
    }
    if let failure { throw failure }
  }

  /// How often a blocked thread checks for cancellation, in milliseconds.
  private static let interval: Int32 = 20

  /// What is no fault of the film: ffmpeg names those.
  private func checkEnding(_ ending: HelperFailure, hasSpoken: Bool) throws(HelperFailure) {
    guard case .crashed(let how) = ending else { return }
    if how.hasPrefix("signal") { throw ending }
    if how == "exit status \(FilmHelper.notConfined)" { throw .notConfined(how: "no Landlock or seccomp") }
    if how == "exit status \(FilmHelper.notStarted)" { throw .cannotStart(detail: "\(program) cannot be run") }
    if !hasSpoken, how.hasPrefix("exit status"), how != "exit status 0" {
      throw .cannotStart(detail: "\(program) ends with \(how) and says nothing")
    }
  }

  private func start(
    _ words: [String], _ film: FileDescriptor
  ) throws(HelperFailure) -> (ChildProcess, output: FileDescriptor, errors: FileDescriptor) {
    // The process alone keeps its ends, so that ours end with it.
    let (output, theirOutput) = try HelperSpawn.socketPair()
    let (errors, theirErrors) = try HelperSpawn.socketPair()
    let pid = try HelperSpawn.start(helper, words, input: film, output: theirOutput, errors: theirErrors)
    return (ChildProcess(pid), output, errors)
  }

  /// Appends what has arrived; false at the end.
  @discardableResult
  private static func receive(_ pipe: FileDescriptor, _ bytes: inout [UInt8]) -> Bool {
    var count = 0
    bytes += [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, filled in
      count = Glibc.read(pipe.rawValue, buffer.baseAddress, buffer.count)
      filled = max(0, count)
    }
    return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
  }

  /// The last message of ffmpeg, which a film may have influenced.
  private static func reason(_ text: [UInt8]) -> String? {
    let shown = String(decoding: text.filter { (0x20...0x7E).contains($0) || $0 == 0x0A }, as: UTF8.self)
    guard let line = shown.split(separator: "\n").last else { return nil }
    if shown.contains("matches no streams") { return "it has no video" }
    let message = line.split(separator: ": ", omittingEmptySubsequences: false).last ?? line
    return "ffmpeg says: \(message.prefix(120))"
  }
}
