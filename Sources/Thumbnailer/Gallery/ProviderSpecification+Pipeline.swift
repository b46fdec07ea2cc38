public import Foundation

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
}
