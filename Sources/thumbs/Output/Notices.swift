import PhotoSources
import Synchronization
import Thumbnailer

/// The messages about a pipeline's disk cache: problems at the beginning of a run, and those until its end.
struct CacheNotices {
  private let pipeline: ThumbnailPipeline
  private let problem: String?
  private let replacement: String?

  /// Prints the current problem.
  init(_ pipeline: ThumbnailPipeline, isQuiet: Bool) {
    self.pipeline = pipeline
    (problem, replacement) = (pipeline.cacheProblem, pipeline.cacheReplacement)
    let console = Console.standard
    if let problem { console.complain("\(problem); going on without the disk cache") }
    if let replacement { console.complain(replacement) }
    if let restriction = pipeline.cacheRestriction { console.complain(restriction) }
    if let exposure = pipeline.cacheExposure, !isQuiet { console.complain(PlainText.withShortPaths(exposure)) }
  }

  /// Prints that the cache has been replaced since.
  func reportReplacement() {
    if let new = pipeline.cacheReplacement, new != replacement { Console.standard.complain(new) }
  }

  /// Prints the problem that keeps the cache from storing everything, unless it has been printed.
  func reportProblem() {
    if pipeline.cacheRestriction != nil { return }
    if let new = pipeline.cacheProblem, new != problem { Console.standard.complain("not everything is stored: \(new)") }
  }
}

/// Reports on stderr that a run waits for a host or a photo service, once for each.
final class PauseNotice: Sendable {
  private let task: Task<Void, Never>

  /// Observes a pipeline without retaining it.
  init(_ pipeline: ThumbnailPipeline) {
    let events = pipeline.pauses()
    task = Task {
      var said: Set<String> = []
      for await event in events {
        guard case .hostPaused(let host, let duration, let failure, true) = event.kind, said.insert(host).inserted
        else {
          continue
        }
        Console.standard.complain("\(Self.message(host, duration, failure: failure)); waiting")
      }
    }
  }

  deinit { task.cancel() }

  /// The message about a pause and its reason.
  static func message(_ host: String, _ duration: Duration, failure: String?) -> String {
    // Tolerates that a few milliseconds have passed.
    let seconds = Int((duration / .seconds(1) - 0.05).rounded(.up))
    guard let failure else { return "\(host) asks for a pause of \(seconds) s" }
    return "\(host) has failed several times in a row (\(failure)) and is left alone for \(seconds) s"
  }
}

/// Describes a source and its items in messages.
struct SourceMessages: Sendable {
  private let query: String?
  private let listName: String?
  private let provider: any PhotoProvider

  init(_ source: SourceOptions, _ provider: any PhotoProvider) {
    (query, listName, self.provider) = (source.query, source.listName, provider)
  }

  /// The position of an item, in terms the user can find.
  func place(of item: SkippedItem) -> String {
    if let listName { return "\(listName), \(item.place)" }
    if let folder = provider as? FolderProvider { return "\(PlainText.path(folder.path))/\(item.place)" }
    return "\(provider.name), \(item.place)"
  }

  /// Why there were no images, and what to do about it.
  func nothingFound() async -> String {
    if let listName { return "\(listName) holds no URL; write one a line" }
    let words = query.map { $0.isEmpty ? "" : " for “\($0)”" } ?? ""
    guard let folder = provider as? FolderProvider else {
      return "\(provider.name) has no picture\(words); try other words"
    }
    let any = try? await folder.search(PhotoQuery("", pageSize: 1), at: nil)
    let path = PlainText.path(folder.path)
    return any?.total == 0
      ? "the folder \(path) holds no picture; name one with JPEG, PNG, WebP, GIF, TIFF, HEIC or AVIF files"
      : "the folder \(path) has no picture\(words); try other words, or --query \"\" for all"
  }
}

extension PhotoProvider {
  /// The message that unrelated photos are used; nil if not.
  var standInNotice: String? {
    guard let offline = self as? OfflineProvider, offline.givesOtherPhotos else { return nil }
    return "nothing is stored of this search; all pictures that are stored stand in"
  }
}

/// A message to stderr that is written once.
final class OneNotice: Sendable {
  private let wasSaid = Atomic(false)

  func say(_ message: @autoclosure () -> String) {
    if !wasSaid.exchange(true, ordering: .relaxed) { Console.standard.complain(message()) }
  }
}
