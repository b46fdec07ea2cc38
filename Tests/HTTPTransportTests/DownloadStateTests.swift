@testable import HTTPTransport

/// The state that a download shares with the admission and the curl thread.
@Suite struct DownloadStateTests {
  @Test func aLatePreemptionDoesNotStopTheNextTransfer() throws {
    let configuration = DownloadConfiguration()
    let url = try #require(URL(string: "https://example.org/a.jpg"))
    let transfer = try Transfer(DownloadRequest(url: url, byteLimit: 1 << 20), configuration)
    let runner = CurlThread(maximumIdleConnections: 1)
    let download = DownloadState(transfer, AdmissionController(configuration, runner))
    let stops = Mutex<[String]>([])
    // Given a transfer that has ended, and the next one of its download
    let first = download.beginWait(at: transfer.url)
    download.begin { stops.withLock { $0.append("first") } }
    let second = download.beginWait(at: transfer.url)
    // When the first one is preempted before the second begins
    download.preempt(first)
    download.begin { stops.withLock { $0.append("second") } }
    download.preempt(first)
    // Then neither is stopped
    #expect(!download.isPreempted && stops.withLock { $0 }.isEmpty)
    download.preempt(second)
    #expect(download.isPreempted && stops.withLock { $0 } == ["second"])
  }
}
