import ArgumentParser
import Foundation
import Thumbnailer

extension CacheOptions {
  /// The given limit, or the library's default.
  var limit: ByteSize { diskCache ?? ThumbnailPipeline.Configuration().diskCacheLimit }

  /// Opens the disk cache, whatever its size limit; nil if there is none, and then none is created.
  func open(_ console: Console) throws -> DiskCache? {
    // A folder that cannot be searched may hold a cache: opening it gives the error.
    if !DiskCache.exists(in: directory), isAbsent || isFolderToLookInto { return nil }
    return try console.usingCache { () throws(DiskCacheError) in
      try DiskCache(directory: directory, byteLimit: nil) { console.complain("\($0)") }
    }
  }

  private var isAbsent: Bool { access(directory.path, F_OK) != 0 && errno == ENOENT }

  private var isFolderToLookInto: Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: directory.path, isDirectory: &isFolder) && isFolder.boolValue
      && access(directory.path, X_OK) == 0
  }
}

extension Console {
  /// Performs work on the cache. On an error, prints it and ends the command.
  func usingCache<Value>(_ work: () throws(DiskCacheError) -> Value) throws -> Value {
    do throws(DiskCacheError) {
      return try work()
    } catch {
      complain("\(error)")
      throw ExitCode.cannotWrite
    }
  }

  /// The same for asynchronous work. The cache has printed the error already, so only `advice` is added.
  func changingCache<Value>(
    advice: (DiskCacheError) -> String? = { _ in nil }, _ work: () async throws(DiskCacheError) -> Value
  ) async throws -> Value {
    do throws(DiskCacheError) {
      return try await work()
    } catch {
      if let advice = advice(error) { complain(advice) }
      throw ExitCode.cannotWrite
    }
  }

  /// Prints the result of a command.
  func answer(_ text: String) throws {
    do { try print(text) } catch { throw cannotPrint(error) }
  }
}
