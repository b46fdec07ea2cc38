import Foundation
import Synchronization
import ThumbnailCore

/// Requests images again that hosts have sent, to find out whether a host is down or only the images fail that are
/// left. Nothing but the head of the response is waited for.
final class HostProbes: Sendable {
  /// The most hosts that can be probed; beyond that, those known before are forgotten.
  private static let mostHosts = 1024
  /// How long a probe may take: no download may start at its host meanwhile.
  private static let timeLimit = Duration.seconds(3)
  /// Images of no more than this are read to their end, so that the connection can be used again.
  private static let byteLimit = 1 << 20

  private let configuration: DownloadConfiguration
  private let runner: any TransferRunner
  /// A request for each site.
  private let requests = Mutex<[String: DownloadRequest]>([:])

  init(_ configuration: DownloadConfiguration, _ runner: any TransferRunner) {
    (self.configuration, self.runner) = (configuration, runner)
  }

  /// Notes that a transfer has brought an image.
  func add(_ transfer: Transfer, _ admission: AdmissionController) {
    guard let url = URL(string: transfer.url.text) else { return }
    let isNew = requests.withLock { requests in
      guard requests[transfer.url.site] == nil else { return false }
      if requests.count >= Self.mostHosts { requests = [:] }
      requests[transfer.url.site] = DownloadRequest(
        url: url, headers: transfer.headers, byteLimit: Self.byteLimit)
      return true
    }
    if isNew { admission.update { $0.hasSentImage(transfer.url.site) } }
  }

  /// Requests the image of a site again; nil if none is known.
  func run(at site: String) async -> TransferOutcome? {
    guard let request = requests.withLock({ $0[site] }), var transfer = try? Transfer(request, configuration) else {
      return nil
    }
    (transfer.observer, transfer.timeLeft) = (HeadObserver(), Self.timeLimit)
    let result = await runner.perform(transfer)
    if case .failure(.timedOut) = result { return .failed(reason: "it fell silent") }
    return TransferOutcome(result, purpose: .image)
  }
}

/// Needs no more than the head of a response.
private final class HeadObserver: BodyObserver {
  func bodyBegins(expectedLength: Int?) {}
  func bodyReceived(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> BodyVerdict { .enough }
}
