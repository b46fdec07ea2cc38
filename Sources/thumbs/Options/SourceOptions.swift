import ArgumentParser
import Foundation
import PhotoSources
import Thumbnailer

/// The source of the images, and how many of them to fetch.
struct SourceOptions: ParsableArguments {
  @Option(help: ArgumentHelp("What to search for; an empty text finds everything.", valueName: "TEXT"))
  var query: String?

  @Option(
    help: ArgumentHelp(
      "A list instead of a search: a URL a line, or JSON lines with a url field; - reads stdin.",
      valueName: "FILE|-"))
  var urls: String?

  @Option(
    help: ArgumentHelp(
      """
      Where to search: folder:PATH, unsplash (key in UNSPLASH_ACCESS_KEY), pexels (key in PEXELS_API_KEY), commons, \
      openverse, picsum (lists only: --query ""), or auto: unsplash or pexels if its key is set, else commons.
      """, valueName: "NAME"))
  var provider = "auto"

  @Option(
    help: ArgumentHelp(
      "Where to reach the provider's API. (default: its own address)", valueName: "BASE", visibility: .hidden))
  var providerURL: String?

  @Flag(help: "Fetch pictures as they were uploaded, not in the smallest form that is large enough.")
  var original = false

  @Option(help: ArgumentHelp("The most pages to fetch. (default: 3; all of a list or with --count)", valueName: "N"))
  var pages: Int?

  @Option(help: ArgumentHelp("Pictures a page.", valueName: "N", visibility: .hidden))
  var perPage = 30

  @Option(
    help: ArgumentHelp("The most pictures to fetch, however many pages that takes. (default: no limit)", valueName: "N")
  )
  var count: Int?

  @Option(
    help: ArgumentHelp(
      "How many pages of pictures may be open at once, not counting those that wait for a silent server. (default: 2)",
      valueName: "N", visibility: .hidden))
  var ahead: Int?

  func validate() throws {
    if query == nil, urls == nil {
      throw ValidationError(
        "nothing to fetch: give --query TEXT, such as --query lake --provider folder:Pictures, or --urls FILE|-")
    }
    try OptionCheck.oneOf([("--query", query != nil), ("--urls", urls != nil)])
    try OptionCheck.notEmpty("--urls", urls, "a file, or - for stdin")
    for (option, value) in [("--pages", pages), ("--per-page", perPage), ("--count", count), ("--ahead", ahead)] {
      try OptionCheck.count(option, value, atMost: 1_000_000_000)
    }
    try OptionCheck.count("--per-page", perPage, atMost: 1000)
    if urls != nil, provider != "auto" || providerURL != nil || original {
      throw ValidationError(
        "--provider, --provider-url and --original go with --query, not with --urls: leave them out")
    }
  }

  /// The limits of the prefetch; by default three pages of a search, or all of a list.
  var limits: QueryPrefetch.Limits {
    let most = pages ?? (urls == nil && count == nil ? 3 : nil)
    return QueryPrefetch.Limits(pages: most, perPage: perPage, photos: count, ahead: ahead ?? 2)
  }

  /// The provider, or with `isOffline` its stored pages.
  func provider(
    for pipeline: ThumbnailPipeline, isOffline: Bool = false
  ) throws(ProviderError) -> any PhotoProvider {
    if let urls { return urls == "-" ? URLListProvider.standardInput() : URLListProvider(path: urls) }
    return try ProviderSpecification(parsing: provider).provider(
      for: pipeline, isOffline: isOffline, baseURL: providerURL)
  }

  /// The start of the progress line.
  var title: String {
    if let query, !query.isEmpty { return query }
    return listName ?? provider
  }

  /// The list's name as shown to the user; nil without a list.
  var listName: String? { urls == "-" ? "stdin" : urls }
}

extension ProviderSpecification {
  /// The provider with the keys of the environment, or with `isOffline` its stored pages.
  func provider(
    for pipeline: ThumbnailPipeline, isOffline: Bool, baseURL: String?
  ) throws(ProviderError) -> any PhotoProvider {
    let environment = SecretVariables.environment
    return isOffline
      ? try offlineProvider(for: pipeline, environment: environment)
      : try provider(for: pipeline, environment: environment, baseURL: baseURL)
  }
}
