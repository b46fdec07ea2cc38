import Foundation
import HTTPSemantics
import HTTPTransport
import ImageCodec
import Synchronization
import ThumbnailCore

/// Completes a body of which the beginning has arrived, by requests for those of its parts that its thumbnails need.
struct PartsLoader: Sendable {
  /// The most requests for one image, the one for its beginning included.
  static let mostRequests = 4
  /// The length of the first part of a HEIC in bytes: its table of contents, with room to spare.
  static let firstLengthOfHEIF = 16 << 10
  /// The length of the first part of a RAW file or TIFF in bytes: what most cameras need for all that is not an image.
  static let firstLengthOfTIFF = 64 << 10

  let downloader: Downloader
  let monitor: PipelineMonitor
  private let refusals = Refusals()

  init(downloader: Downloader, monitor: PipelineMonitor) {
    (self.downloader, self.monitor) = (downloader, monitor)
  }

  /// What was loaded.
  struct Loaded {
    var parts: PartsFile
    /// The header, if it could be parsed.
    var probe: ImageProbe?
    /// The last download, which holds its share of the memory for bodies.
    var last: Download
    /// The bytes received in all.
    var receivedBytes: Int
    /// How long all downloads took, without waiting for slots.
    var duration: Duration
  }

  /// Loads what `plan` asks for.
  ///
  /// - Parameters:
  ///   - first: The beginning of the body. Its share of the memory is returned: nothing that waits for a slot may hold
  ///     any.
  ///   - request: The request that it came with.
  /// - Throws: `.partUnavailable` if the server does not send the parts.
  func complete(
    _ first: Download, of version: BodyVersion, _ request: DownloadRequest, by plan: RangePlan, for job: JobContext
  ) async throws(DownloadError) -> Loaded {
    var (plan, requests) = (plan, 1)
    var loaded = Loaded(
      parts: downloader.makePartsFile(length: version.length), last: first, receivedBytes: first.receivedBytes,
      duration: first.duration)
    try await loaded.parts.add(first)
    while true {
      let step = plan.next(
        in: loaded.parts.body, known: loaded.parts.known, requests: max(1, Self.mostRequests - requests))
      guard case .fetch(let ranges) = step else {
        if case .done(let probe) = step { loaded.probe = probe }
        return loaded
      }
      for range in ranges {
        loaded.last.releaseMemory()
        let observer = PartObserver(monitor, job.progress, received: loaded.receivedBytes)
        loaded.last = try await downloader.download(
          request.part(range, of: version), observer: observer, priority: job.priority)
        loaded.receivedBytes += loaded.last.receivedBytes
        loaded.duration += loaded.last.duration
        try await loaded.parts.add(loaded.last)
        requests += 1
      }
    }
  }

  // MARK: Which servers are asked

  /// Whether parts may be requested from the host of a URL: unless it has once sent something else.
  func mayAsk(_ url: URL) -> Bool { !refusals.hosts.withLock { $0.contains(HostName(of: url)) } }

  /// Remembers that the host of a URL does not send parts as requested.
  func refused(_ url: URL) {
    refusals.hosts.withLock { hosts in
      if hosts.count >= Refusals.most { hosts.removeAll() }
      hosts.insert(HostName(of: url))
    }
  }

  /// The first part of a file whose name says that parts of it may suffice: an image with a preview in it or with smaller
  /// copies. Of others nothing is gained, and they would take a second request.
  func firstPart(of url: URL) -> RequestedPart? {
    let name = url.pathExtension.lowercased()
    let lengths = [
      ImageFormat.heif: Self.firstLengthOfHEIF, .raw: Self.firstLengthOfTIFF, .tiff: Self.firstLengthOfTIFF,
    ]
    return lengths.first { $0.key.fileExtensions.contains(name) }.map { RequestedPart(0..<$0.value) }
  }

  /// The hosts that have not sent parts as requested.
  private final class Refusals: Sendable {
    static let most = 1000
    let hosts = Mutex<Set<HostName?>>([])
  }
}

/// Counts the bytes of a part of a body.
private final class PartObserver: BodyObserver {
  private let monitor: PipelineMonitor
  private let progress: BodyProgress
  /// The bytes of the body that were received before.
  private let received: Int

  init(_ monitor: PipelineMonitor, _ progress: BodyProgress, received: Int) {
    (self.monitor, self.progress, self.received) = (monitor, progress, received)
  }

  func bodyBegins(expectedLength: Int?) {}

  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict {
    monitor.add(bytes.count, to: \.downloadedBytes)
    progress.receive(upTo: received + offset + bytes.count)
    return .more
  }
}
