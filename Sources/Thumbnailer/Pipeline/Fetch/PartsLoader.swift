import Foundation
import HTTPSemantics
import HTTPTransport
import ImageCodec
import Synchronization
import ThumbnailCore

/// Completes a body whose beginning has arrived, by requests for the parts that its thumbnails need.
final class PartsLoader: Sendable {
  /// The most requests for one image, including the one for its beginning. Tiles of a HEIC may take more:
  /// `RangePlan.mostOfTiles`.
  static let mostRequests = 4
  /// The length of the first part of a RAW file or TIFF in bytes: it contains everything but the images in files of
  /// most cameras.
  static let firstLengthOfTIFF = 64 << 10

  let downloader: Downloader
  let monitor: PipelineMonitor
  /// How often in a row hosts have not sent parts as requested.
  private let faults = Mutex<[HostName?: Int]>([:])
  /// The number after which no more parts are requested from a host.
  private static let mostFaults = 3
  private static let mostHosts = 1000

  init(downloader: Downloader, monitor: PipelineMonitor) {
    (self.downloader, self.monitor) = (downloader, monitor)
  }

  /// Why parts are not loaded.
  enum Failure: Error {
    /// The requested file is not an image that may be decoded.
    case refused(CodecError)
    case failed(DownloadError)
    /// The whole file has to be downloaded instead: most of it is needed, the server does not send parts, or there is
    /// no room for them on a disk.
    case unsuitable(receivedBytes: Int)
  }

  /// Loads what `plan` asks for, and adds the attempts and the time that it took to those of the first download.
  ///
  /// - Parameters:
  ///   - first: The beginning of the body. Its bytes are moved to a file, and its share of the memory is returned:
  ///     nothing that waits for a slot may hold any.
  ///   - request: The request that it came with.
  func complete(
    _ first: inout Download, _ request: DownloadRequest, by plan: RangePlan, for job: JobContext
  ) async throws(Failure) -> SourceBody {
    guard let version = first.version else {
      noteFault(of: request.url)
      first.releaseBody()
      throw .unsuitable(receivedBytes: first.receivedBytes)
    }
    var (plan, requests, last, received) = (plan, 1, first, first.receivedBytes)
    first.releaseBody()
    var parts = downloader.makePartsFile(length: version.length)
    do throws(DownloadError) {
      try await parts.add(&last)
    } catch {
      throw failure(error, of: request, receivedBytes: received)
    }
    while true {
      let step: RangePlan.Step
      do throws(CodecError) {
        step = try plan.next(in: parts.body, known: parts.known, requests: Self.mostRequests - requests)
      } catch {
        throw .refused(error)
      }
      switch step {
      case .whole: throw .unsuitable(receivedBytes: received)
      case .done(let probe):
        noteSuccess(of: request.url)
        var body = SourceBody(parts, header: .success(probe), holding: last)
        body.downloadedBytes = received
        return body
      case .fetch(let ranges):
        do throws(DownloadError) {
          for range in ranges {
            last.releaseBody()
            let observer = PartObserver(monitor, job.progress, received: received)
            last = try await downloader.download(
              request.part(range, of: version, after: last), observer: observer, priority: job.priority)
            received += last.receivedBytes
            first.attempts += last.attempts - 1
            first.duration += last.duration
            requests += 1
            try await parts.add(&last)
          }
        } catch {
          throw failure(error, of: request, receivedBytes: received)
        }
      }
    }
  }

  /// More segments than these bytes in a row are jumped over.
  static let leastSkipped = 256 << 10
  /// The bytes of a segment that are compared.
  private static let headLength = 16

  /// Continues a JPEG behind a run of segments, whose end it searches. In the body, segments of zeros stand for those
  /// that are not received.
  func jump(
    over run: SegmentRun, _ first: inout Download, _ request: DownloadRequest, _ observer: HeaderObserver,
    for job: JobContext
  ) async throws(Failure) -> SourceBody {
    var (last, received, count) = (first, first.receivedBytes, first.body.count)
    first.releaseBody()
    guard let version = last.version else { throw .unsuitable(receivedBytes: received) }
    func fetch(_ range: Range<Int>, _ observer: any BodyObserver) async throws(DownloadError) {
      last.releaseBody()
      last = try await downloader.download(
        request.part(range, of: version, after: last), observer: observer, priority: job.priority)
      received += last.receivedBytes
      first.attempts += last.attempts - 1
      first.duration += last.duration
    }
    var parts = downloader.makePartsFile(length: version.length)
    do throws(DownloadError) {
      try await parts.add(&last)
      let head = try? parts.body.read(at: run.range.lowerBound, length: Self.headLength)
      // The last segment begins at the first place or between them.
      var places = -1..<(version.length - run.range.upperBound) / run.stride
      while places.count * run.stride > Self.leastSkipped {
        let middle = (places.lowerBound + places.upperBound) / 2
        let start = run.range.upperBound + middle * run.stride
        let looking = PartObserver(monitor, job.progress, received: received)
        try await fetch(start..<start + Self.headLength, looking)
        let isSegment = head != nil && head == (try? last.body.read(at: 0, length: Self.headLength))
        places = isSegment ? middle..<places.upperBound : places.lowerBound..<middle
      }
      let end = max(count, run.range.upperBound + places.lowerBound * run.stride)
      let skipped = end - count
      repeat {
        let filling = run.filling(at: count, before: end)
        observer.fill(filling, at: count)
        try await parts.add(.memory(filling), at: count)
        count += filling.count
      } while count < end
      try await fetch(end..<version.length, observer)
      count += last.body.count
      try await parts.add(&last)
      guard case .success = observer.header else { throw DownloadError.refusedByObserver }
      var body = SourceBody(
        parts.body.part(0..<count), seenBy: observer, isComplete: count == version.length,
        expectedLength: version.length, holding: last)
      (body.skippedBytes, body.downloadedBytes) = (skipped, received)
      return body
    } catch {
      throw failure(error, of: request, receivedBytes: received)
    }
  }

  /// What the failure of a request for a part means.
  func failure(_ error: DownloadError, of request: DownloadRequest, receivedBytes: Int) -> Failure {
    switch error {
    case .partUnavailable(let isFault):
      if isFault { noteFault(of: request.url) }
      return .unsuitable(receivedBytes: receivedBytes)
    case .cannotStoreBody, .refusedByObserver: return .unsuitable(receivedBytes: receivedBytes)
    default: return .failed(error)
    }
  }

  // MARK: Which servers are asked

  /// Whether parts may be requested from the host of a URL: not if it has failed to send them several times in a row.
  func mayAsk(_ url: URL) -> Bool {
    faults.withLock { $0[HostName(of: url)] ?? 0 } < Self.mostFaults
  }

  /// Notes that the host of a URL does not send parts as requested.
  func noteFault(of url: URL) {
    faults.withLock { hosts in
      if hosts.count >= Self.mostHosts { hosts.removeAll() }
      hosts[HostName(of: url), default: 0] += 1
    }
  }

  private func noteSuccess(of url: URL) {
    faults.withLock { hosts in if !hosts.isEmpty { hosts[HostName(of: url)] = nil } }
  }

  /// The first part of a file for which parts probably suffice, by its name: a RAW file, or a TIFF, which may be one.
  /// Other files begin with a request for all bytes, which ends when the header shows that parts suffice, so that one
  /// more request is enough.
  func firstPart(of url: URL) -> RequestedPart? {
    let name = url.pathExtension.lowercased()
    let isLikely = [ImageFormat.raw, .tiff].contains { $0.fileExtensions.contains(name) }
    return isLikely ? RequestedPart(0..<Self.firstLengthOfTIFF) : nil
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
