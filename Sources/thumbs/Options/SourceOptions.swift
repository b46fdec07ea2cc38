import ArgumentParser
import Foundation
import PhotoSources
import ThumbnailCore
import Thumbnailer

/// Where pictures are listed.
struct ProviderOptions: ParsableArguments {
  @Option("PROVIDER", "Where to search: \(ProviderSpecification.help)")
  var provider: String?

  @Option(
    "FILE|-", "A list in place of a source: a URL a line, or JSON lines with a url field; - reads stdin.",
    .naming("a file, or - for stdin"))
  var urls: String?

  func validate() throws {
    if let problem = provider.flatMap(UsageMessage.removal(ofProvider:)) { throw ValidationError(problem) }
  }
}

/// The source of the images, and how many of them to fetch.
struct SourceOptions: ParsableArguments {
  @Option("TEXT", "What to search for; \"\" for all pictures of the source.")
  var query: String?

  @OptionGroup var listed: ProviderOptions

  @Option(
    "N", "The most pictures to fetch, however many pages that takes. (default: three pages; all of a list)",
    .within(1...1_000_000_000))
  var count: Int?

  var urls: String? { listed.urls }
  var provider: String? { listed.provider }

  func validate() throws {
    if query == nil, urls == nil {
      throw ValidationError(
        "nothing to fetch: give --query TEXT, such as --query lake --provider folder:Pictures, or --urls FILE|-")
    }
    try checkOneOf([("--query", query != nil), ("--urls", urls != nil)])
    if urls != nil, listed.provider != nil {
      throw ValidationError("--provider goes with --query, not with --urls: leave it out")
    }
  }

  /// The limits of the prefetch; by default three pages of a search, or all of a list.
  var limits: QueryPrefetch.Limits {
    QueryPrefetch.Limits(pages: urls == nil && count == nil ? 3 : nil, photos: count)
  }

  /// The provider, or with `isOffline` its stored pages.
  func provider(
    for pipeline: ThumbnailPipeline, isOffline: Bool = false
  ) throws(ProviderError) -> any PhotoProvider {
    if let urls { return urls == "-" ? URLListProvider.standardInput() : URLListProvider(path: urls) }
    return try ProviderSpecification(option: listed.provider).provider(
      for: pipeline, isOffline: isOffline)
  }

  /// The start of the progress line.
  var title: String {
    if let query, !query.isEmpty { return query }
    return listName ?? provider ?? "Pictures"
  }

  /// The list's name as shown to the user; nil without a list.
  var listName: String? { urls == "-" ? "stdin" : urls }
}

extension ProviderSpecification {
  /// The names of `--provider`.
  static let help =
    "folder:PATH, unsplash (key in \(unsplashKeyVariable)), pexels (key in \(pexelsKeyVariable)) or commons. "
    + "(default: unsplash or pexels if its key is set, else commons)"

  /// The one that `--provider` names, or the preferred one.
  init(option: String?) throws(ProviderError) {
    self =
      try option.map { (text) throws(ProviderError) in try ProviderSpecification(parsing: text) }
      ?? .preferred(environment: SecretVariables.environment)
  }

  /// The provider with the keys of the environment, or with `isOffline` its stored pages.
  func provider(
    for pipeline: ThumbnailPipeline, isOffline: Bool
  ) throws(ProviderError) -> any PhotoProvider {
    isOffline
      ? try offlineProvider(for: pipeline)
      : try provider(for: pipeline, environment: SecretVariables.environment)
  }
}
