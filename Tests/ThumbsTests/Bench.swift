@testable package import TestSupport

/// Folders of one test's own, to run the command in: nothing outside is read or written. Removed when dropped.
final class Bench: Sendable {
  /// The folder for everything.
  let directory: URL
  /// The folder for the cache, unless a test names another.
  var cache: URL { directory.appendingPathComponent("cache") }

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "thumbs-test-\(UUID())", isDirectory: true)
    try FileManager.default.createDirectory(
      at: directory.appendingPathComponent("home"), withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Runs the command to its end, with the cache folder of this bench.
  func run(
    _ arguments: String..., environment: [String: String] = [:], input: ThumbsProcess.Input = .nothing,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Run {
    try await start(arguments, environment: environment, input: input).run(sourceLocation)
  }

  /// Starts the command, with the cache folder of this bench unless the arguments name one or take none.
  func start(
    _ arguments: [String], environment: [String: String] = [:], input: ThumbsProcess.Input = .nothing,
    stdout: ThumbsProcess.Output = .captured, stderr: ThumbsProcess.Output = .captured, launcher: [String] = []
  ) throws -> ThumbsProcess {
    var arguments = arguments
    let takesCache = ["prefetch", "search", "get", "worker", "cache", "doctor"].contains { arguments.first == $0 }
    if takesCache, arguments != ["cache"], arguments != ["cache", "empty"], !arguments.contains("--help"),
      !arguments.contains("--cache-dir")
    {
      arguments += ["--cache-dir", cache.path]
    }
    var variables = [
      "HOME": directory.appendingPathComponent("home").path,
      "XDG_CACHE_HOME": directory.appendingPathComponent("xdg").path,
      "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": NSTemporaryDirectory(),
    ]
    variables.merge(environment) { $1 }
    return try ThumbsProcess(
      arguments, environment: variables, directory: directory, input: input, stdout: stdout, stderr: stderr,
      launcher: launcher)
  }

  /// The URL of a file or folder of this bench.
  func url(_ path: String) -> URL { directory.appendingPathComponent(path) }

  /// Whether there is a file, and no folder.
  func isFile(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url(path).path, isDirectory: &isFolder) && !isFolder.boolValue
  }

  /// The bytes of the files below a folder, by their paths in it.
  func files(_ folder: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: url(folder).path) where isFile("\(folder)/\(name)")
    {
      files[name] = try Data(contentsOf: url("\(folder)/\(name)"))
    }
    return files
  }

  /// Makes a folder, with `count` copies of a small picture in it.
  func folder(_ name: String, pictures count: Int = 0) throws -> URL {
    let folder = url(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for number in 0..<count {
      try FileManager.default.copyItem(
        at: TestImages.url("formats/jpeg-420.jpg"), to: folder.appendingPathComponent("picture \(number).jpg"))
    }
    return folder
  }
}

/// A run of the command that has ended.
struct Run: Sendable {
  let status: Int32
  let stdout: Data
  let stderr: String

  /// The lines on stdout.
  var lines: [String] { Self.lines(String(decoding: stdout, as: UTF8.self)) }
  /// The lines on stderr.
  var complaints: [String] { Self.lines(stderr) }

  /// The objects of `--json`, without the summary.
  func pictures(_ location: SourceLocation = #_sourceLocation) throws -> [Picture] {
    try lines.dropLast().map { try JSONDecoder().decode(Picture.self, from: Data($0.utf8)) }
  }

  /// The summary of `--json`.
  func summary(_ location: SourceLocation = #_sourceLocation) throws -> Summary {
    let last = try #require(lines.last, "nothing on stdout; stderr: \(stderr)", sourceLocation: location)
    return try JSONDecoder().decode([String: Summary].self, from: Data(last.utf8))["summary"] ?? Summary()
  }

  private static func lines(_ text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}

extension ThumbsProcess {
  /// Waits for the end, which must come before the deadline.
  func run(_ location: SourceLocation = #_sourceLocation) async -> Run {
    let result = await result()
    #expect(!result.wasLate, "thumbs had to be killed; stderr: \(result.stderr)", sourceLocation: location)
    return Run(status: result.status, stdout: result.stdout, stderr: result.stderr)
  }
}

/// One line of `--json`.
struct Picture: Decodable, Sendable {
  struct Failure: Decodable, Equatable { let code, message: String }
  struct Source: Decodable, Equatable { let width, height, bytes, downloaded, left: Int }
  struct Made: Decodable, Equatable, Hashable {
    var path: String?
    let width, height: Int
    let format: String
    let bytes: Int
  }

  let id: String
  var line: Int?
  let url: String
  let status: String
  let error: Failure?
  let source: Source?
  let thumbnails: [Made]
  let ms: Double
}

/// The last line of `--json`.
struct Summary: Decodable {
  var pictures = 0, stored = 0, made = 0, hits = 0, failed = 0, downloadedBytes = 0, bytesLeft = 0
  var revalidated = 0, stale = 0
  var storedBytes = 0
  var seconds = 0.0, picturesPerSecond = 0.0
  var peakMemoryBytes = 0
  var provider = ""
}

/// The images that come with the project.
package typealias TestImages = TestSupport.TestImages
