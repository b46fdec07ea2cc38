import CSQLite
import Foundation
import ThumbnailCache
import Thumbnailer

// Measures the caches through their public API against SQLite's C API, in one run:
//
//   swift run -c release CacheBenchmark [rows] [directory]
//
// Rows are thumbnails of 12 kB, 100,000 of them unless told otherwise (1.3 GB in the directory, by default a new one
// under the system's directory for temporary files; removed at the end).

let rowCount = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
let base = CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : NSTemporaryDirectory()
let directory = URL(fileURLWithPath: base).appendingPathComponent("thumbnailer-benchmark-\(getpid())")
defer { try? FileManager.default.removeItem(at: directory) }

let samples = Samples(count: rowCount)
try MemoryMeasurement.run(samples)
let cache = try DiskCache(directory: directory.appendingPathComponent("cache"), byteLimit: 8 << 30)
try await WriteMeasurement.run(samples, cache: cache, directory: directory)
try ReadMeasurement.run(samples, cache: cache, path: directory.path + "/cache/thumbnails-v2.sqlite")
let lowering = try await ContinuousClock().measure { try await cache.setByteLimit(rowCount * 1200) }
print("lowering the limit to a tenth: \(format(lowering / .seconds(1))) s")
let clearing = try await ContinuousClock().measure { try await cache.removeAll() }
print("clearing: \(format(clearing / .seconds(1))) s")
cache.close()
