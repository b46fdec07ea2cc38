@testable import HTTPTransport
@testable import ThumbnailCore

/// HTTP/2 over TLS against nginx.
@Suite(.timeLimit(.minutes(5)), .enabled(if: NginxServer.isInstalled, "needs nginx and openssl"))
struct MultiplexingTests {
  @Test func parallelTransfersShareOneConnection() async throws {
    let bytes = noise(100_000)
    let server = try await NginxServer(files: ["a.bin": bytes], rate: 200_000)
    let downloader = downloader(for: server)
    try await withThrowingTaskGroup(of: Download.self) { group in
      for number in 0..<12 {
        group.addTask { try await downloader.fetch(server.url("/a.bin?\(number)")) }
      }
      for try await download in group {
        #expect(download.httpVersion == "2")
        #expect(try download.bytes == bytes)
      }
    }
    #expect(await eventually { server.log.count == 12 })
    #expect(Set(server.log.map(\.connection)).count == 1)
    #expect(server.log.allSatisfy { $0.httpVersion == "HTTP/2.0" && $0.status == "200" })
  }

  @Test func endingOneStreamLeavesTheOthersAndTheConnectionAlone() async throws {
    let bytes = noise(300_000)
    // The cancelled one would take a minute: however busy the machine, it is not done before it is cancelled.
    let server = try await NginxServer(
      files: ["a.bin": bytes, "b.bin": Array(repeating: 7, count: 24_000_000)], rate: 400_000)
    let downloader = downloader(for: server)
    async let whole = downloader.fetch(server.url("/a.bin?whole"))
    async let enough = downloader.fetch(
      server.url("/a.bin?enough"), observer: RecordingObserver { $0 > 20_000 ? .enough : .more })
    async let refused = downloader.failure(
      of: server.url("/a.bin?refused"), observer: RecordingObserver { _ in .refuse })
    let observer = RecordingObserver()
    let cancelled = Task { await downloader.failure(of: server.url("/b.bin?cancelled"), observer: observer) }
    #expect(await eventually { !observer.bytes.isEmpty })
    cancelled.cancel()
    #expect(await cancelled.value == .cancelled)
    #expect(await refused == .refusedByObserver)
    #expect(try await !enough.isComplete)
    #expect(try await whole.bytes == bytes)
    #expect(try await downloader.fetch(server.url("/a.bin?after")).bytes == bytes)
    #expect(await eventually { server.log.count == 5 })
    #expect(Set(server.log.map(\.connection)).count == 1)
  }

  @Test func aStoppedStreamLeavesItsConnectionHoweverLittleIsLeft() async throws {
    let bytes = noise(150_000)
    // The rest takes a second: it is not there by chance.
    let server = try await NginxServer(files: ["a.bin": bytes], rate: 80_000)
    let downloader = downloader(for: server)
    for number in 0..<3 {
      let download = try await downloader.fetch(
        server.url("/a.bin?\(number)"), observer: RecordingObserver { $0 > 30_000 ? .enough : .more })
      #expect(download.httpVersion == "2" && !download.isComplete)
      #expect(download.receivedBytes < bytes.count && download.expectedBytes == bytes.count)
    }
    #expect(await eventually { server.log.count == 3 })
    #expect(Set(server.log.map(\.connection)).count == 1)
  }

  @Test func aCertificateThatNobodyTrustsIsReportedAtOnce() async throws {
    let server = try await NginxServer(files: [:], rate: 0)
    guard case .untrusted(let reason) = await Downloader(.quick()).failure(of: server.url("/a")) else {
      Issue.record("trusted")
      return
    }
    #expect(reason.lowercased().contains("certificate"))
    let wrongName = Downloader(.quick { $0.certificateAuthorityFile = server.certificate })
    #expect(await wrongName.failure(of: server.url("/a", host: "127.0.0.2"))?.kind == "untrusted")
  }

  private func downloader(for server: NginxServer) -> Downloader {
    Downloader(
      .quick {
        $0.certificateAuthorityFile = server.certificate
        $0.maximumDownloadsPerHost = 12
      })
  }
}
