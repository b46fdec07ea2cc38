import ArgumentParser
import Foundation
import Thumbnailer

extension CacheOptions {
  /// The limit given, or the library's default.
  var limit: ByteSize { diskCache ?? ThumbnailPipeline.Configuration().diskCacheLimit }

  /// The disk cache itself, whatever its size; nil when nobody has made one there yet, and then none is made.
  func open(_ console: Console) throws -> DiskCache? {
    // What cannot be looked into may hold a cache: that is an error, which opening it words.
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
  /// Says why the cache could not do its work, and ends the command then.
  func usingCache<Value>(_ work: () throws(DiskCacheError) -> Value) throws -> Value {
    do throws(DiskCacheError) {
      return try work()
    } catch {
      complain("\(error)")
      throw ExitCode.cannotWrite
    }
  }

  /// The same for work that waits. What goes wrong there the cache has said already, but not what `advice` knows to do
  /// about it.
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

  /// Prints the one answer of a command.
  func answer(_ text: String) throws {
    do { try print(text) } catch { throw cannotPrint(error) }
  }
}
