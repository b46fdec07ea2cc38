public import Foundation
public import Thumbnailer

extension ProviderSpecification {
  /// The provider that is meant, reached over a pipeline's connections.
  ///
  /// - Parameters:
  ///   - pipeline: Whose connections, deadlines and `User-Agent` are used.
  ///   - environment: The environment variables, where access keys are.
  ///   - baseURL: Where to reach the provider's API, when not at its own address.
  ///   - application: The name of your application: Unsplash's terms want links to its pages to carry it.
  /// - Throws: `ProviderError` when a key is missing or the address is none. Nothing is fetched yet.
  public func provider(
    for pipeline: ThumbnailPipeline, environment: [String: String] = ProcessInfo.processInfo.environment,
    baseURL: String? = nil, application: String = "thumbs"
  ) throws(ProviderError) -> any PhotoProvider {
    let userAgent = pipeline.configuration.userAgent
    return try provider(
      environment: environment, baseURL: baseURL, client: pipeline.httpClient,
      namesContact: userAgent.contains("@") || userAgent.contains("://"),
      application: application, formats: pipeline.configuration.readableFormats)
  }

  /// The provider as far as it can be had without a network, from a pipeline's cache. No access key is needed for that.
  ///
  /// - Parameter environment: The environment variables, whose access keys tell what `auto` means.
  /// - Throws: `ProviderError.unreachable` where there is no cache on the disk.
  public func offlineProvider(
    for pipeline: ThumbnailPipeline, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(ProviderError) -> any PhotoProvider {
    let known: any PhotoProvider
    do throws(ProviderError) {
      known = try provider(for: pipeline, environment: environment)
    } catch {
      guard case .keyMissing(let name, _, _) = error else { throw error }
      return OfflineProvider(of: name, store: try OfflineProvider.existing(pipeline.pageStore, for: name))
    }
    return try known.offline(in: pipeline.pageStore)
  }
}
