public import Foundation
public import Thumbnailer

extension ProviderSpecification {
  /// The specified provider, using a pipeline's connections.
  ///
  /// - Parameters:
  ///   - pipeline: Its connections, timeouts and `User-Agent` are used.
  ///   - environment: The environment variables, which hold the access keys.
  ///   - application: The name of your application: Unsplash's terms require it in links to its pages.
  /// - Throws: `ProviderError` when a key is missing or the URL is invalid. No request is sent yet.
  public func provider(
    for pipeline: ThumbnailPipeline, environment: [String: String] = ProcessInfo.processInfo.environment,
    application: String = "thumbs"
  ) throws(ProviderError) -> any PhotoProvider {
    let userAgent = pipeline.configuration.userAgent ?? ""
    return try provider(
      environment: environment, client: pipeline.httpClient,
      namesContact: userAgent.contains("@") || userAgent.contains("://"),
      application: application, formats: pipeline.configuration.readableFormats)
  }

  /// The offline form of the provider, from a pipeline's cache. Needs no access key.
  ///
  /// - Throws: `ProviderError.unreachable` without a disk cache.
  package func offlineProvider(
    for pipeline: ThumbnailPipeline
  ) throws(ProviderError) -> any PhotoProvider {
    do throws(ProviderError) {
      return try provider(for: pipeline, environment: [:]).offline(in: pipeline.pageStore)
    } catch {
      guard case .keyMissing(let name, _, _) = error else { throw error }
      return OfflineProvider(of: name, store: try OfflineProvider.existing(pipeline.pageStore, for: name))
    }
  }
}
