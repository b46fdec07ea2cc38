import HTTPTransport
import ThumbnailCore

extension ThumbnailPipeline.Configuration {
  /// The settings of the transport.
  func download(_ budget: MemoryBudget) -> DownloadConfiguration {
    var download = DownloadConfiguration()
    download.maximumDownloads = downloads
    download.maximumDownloadsPerHost = downloadsPerHost
    download.silence = silence
    download.connectTimeout = connectTimeout
    download.stallTimeout = stallTimeout
    download.totalTimeout = totalTimeout
    download.retry.maximumAttempts = attempts
    download.maximumWait = maximumWait
    download.hosts = hosts
    download.minimumRate = minimumRate.bytes
    download.userAgent = userAgent
    download.memoryBodyLimit = budget.bodyLimit
    download.spillDirectory = cacheDirectory
    download.certificateAuthorityFile = certificateAuthorityFile
    download.partialBodies = partialStore
    download.proxy = proxy
    download.clientCertificates = clientCertificates
    return download
  }

  /// The store of partial downloads; nil if none are kept.
  var partialStore: PartialStore? {
    guard partialDownloadLimit.bytes > 0 else { return nil }
    return PartialStore(
      directory: Self.partialDownloads(in: cacheDirectory), byteLimit: partialDownloadLimit.bytes)
  }
}
