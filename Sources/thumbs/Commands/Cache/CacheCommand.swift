import ThumbnailCache
import ThumbnailCore
import ArgumentParser
import Foundation
import Thumbnailer

/// `thumbs cache`: inspects and manages the disk cache.
struct CacheCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Shows or empties the disk cache.",
    discussion: """
      Examples:
        thumbs cache stats
        thumbs cache list lake
        thumbs cache prune --older-than 30d
        thumbs cache clear --cache-dir /var/cache/thumbs
      """,
    subcommands: [
      CacheStatsCommand.self, CacheListCommand.self, CachePruneCommand.self, CacheRemoveCommand.self,
      CacheClearCommand.self,
    ])
}

/// The images of the cache to work on.
struct CacheSelectionArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The picture's URL or path, or words of its address. (default: all pictures)", valueName: "URL|QUERY"))
  var words: [String] = []

  /// The message if no thumbnail of the selection is stored.
  static let nothingStored = "nothing of that is stored; 'thumbs cache list' shows what is"

  /// Parses the words: a URL, a text that starts like a path, or an existing file selects an image; anything else is a
  /// search text.
  func selection() throws -> CacheSelection {
    let text = words.joined(separator: " ")
    if text.allSatisfy(\.isWhitespace) { return .all }
    guard words.count == 1 else { return .words(text) }
    if text.contains("://") || ["/", "./", "../"].contains(where: { text.hasPrefix($0) }) {
      return .picture(try ImageSource(commandLine: text))
    }
    let isFile = (try? FileState(of: RawPath(text))).map { $0.kind != .folder } ?? false
    return isFile ? .picture(try ImageSource(commandLine: text)) : .words(text)
  }
}

extension CacheOptions {
  /// The given limit, or the library's default.
  var limit: ByteSize { diskCache ?? ThumbnailPipeline.Configuration().diskCacheLimit }

  /// Opens the disk cache, whatever its size limit; nil if there is none, and then none is created. Errors of changes
  /// are printed as they occur.
  func open() throws(DiskCacheError) -> DiskCache? {
    // A folder that cannot be searched may contain a cache: opening it gives the error.
    if !DiskCache.exists(in: directory), isAbsent || isFolderToLookInto { return nil }
    let console = Console.standard
    return try DiskCache(directory: directory, byteLimit: nil) { console.complain("\($0)") }
  }

  private var isAbsent: Bool { access(directory.path, F_OK) != 0 && errno == ENOENT }

  private var isFolderToLookInto: Bool {
    (try? FileState(of: RawPath(directory.path)))?.kind == .folder && access(directory.path, X_OK) == 0
  }
}

extension DiskCache {
  /// Changes the cache. After an error, whose message `open` has printed, ends the command.
  ///
  /// - Parameter advice: What to add if the disk is full.
  func change<Value>(
    whenFull advice: String? = nil, _ work: (DiskCache) async throws(DiskCacheError) -> Value
  ) async throws(CommandFailure) -> Value {
    do throws(DiskCacheError) {
      return try await work(self)
    } catch {
      guard case .diskFull = error else { throw CommandFailure(.cannotWrite) }
      throw CommandFailure(.cannotWrite, advice)
    }
  }
}
