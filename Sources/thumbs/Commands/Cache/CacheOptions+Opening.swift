import ArgumentParser
import Foundation
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

extension CacheOptions {
  /// The given limit, or the library's default.
  var limit: ByteSize { diskCache ?? ThumbnailPipeline.Configuration().diskCacheLimit }

  /// Opens the disk cache, whatever its size limit; nil if there is none, and then none is created. Errors of changes
  /// are printed as they occur.
  func open() throws(DiskCacheError) -> DiskCache? {
    // A folder that cannot be searched may hold a cache: opening it gives the error.
    if !DiskCache.exists(in: directory), isAbsent || isFolderToLookInto { return nil }
    return try DiskCache(directory: directory, byteLimit: nil) { Console.standard.complain("\($0)") }
  }

  private var isAbsent: Bool { access(directory.path, F_OK) != 0 && errno == ENOENT }

  private var isFolderToLookInto: Bool {
    (try? FileState(of: RawPath(directory.path)))?.kind == .folder && access(directory.path, X_OK) == 0
  }
}

extension DiskCache {
  /// Changes the cache. On an error, of which `open` has had the message printed, adds `advice` and ends the command.
  func change<Value>(
    advice: (DiskCacheError) -> String? = { _ in nil }, _ work: (DiskCache) async throws(DiskCacheError) -> Value
  ) async throws(CommandFailure) -> Value {
    do throws(DiskCacheError) {
      return try await work(self)
    } catch {
      throw CommandFailure(.cannotWrite, advice(error))
    }
  }
}
