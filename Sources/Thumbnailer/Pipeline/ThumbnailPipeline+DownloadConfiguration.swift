extension ThumbnailPipeline.Configuration {
  /// What of it concerns downloads.
  func download(_ budget: MemoryBudget) -> DownloadConfiguration {
    var download = DownloadConfiguration()
    download.maximumDownloads = downloads
    download.maximumDownloadsPerHost = downloadsPerHost
    download.connectTimeout = connectTimeout
    download.stallTimeout = stallTimeout
    download.totalTimeout = totalTimeout
    download.retry.maximumAttempts = attempts
    download.retry.maximumRetryAfter = longestRetryAfter
    download.userAgent = userAgent
    download.memoryBodyLimit = budget.bodyLimit
    download.spillDirectory = cacheDirectory
    download.certificateAuthorityFile = certificateAuthorityFile
    if partialDownloadLimit.bytes > 0 {
      download.partialBodies = PartialStore(
        directory: Self.partialDownloads(in: cacheDirectory), byteLimit: partialDownloadLimit.bytes)
    }
    download.proxy = proxy
    download.clientCertificates = clientCertificates
    return download
  }
}
