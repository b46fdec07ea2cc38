@testable package import TestSupport
@testable import thumbs

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

  /// Runs the command to its end within this process, with the cache folder of this bench. `keys` are variables that hold
  /// secrets; `process` is for others, and for what concerns a process: folders, signals, limits, its start.
  ///
  /// Paths count from the bench's folder, as in a process that runs there. So what names an output, a list or something in
  /// that folder is made absolute, and the folder is taken out of what was printed, but for URLs. A list on stdin is a file
  /// of that name.
  func run(
    _ arguments: [String], keys: [String: String] = [:], input: ThumbsProcess.Input = .nothing
  ) async throws -> Run {
    var (words, input) = (withCache(arguments), input)
    if case .bytes(let list) = input, let index = words.firstIndex(of: "--urls"), words[index + 1] == "-" {
      try list.write(to: url("stdin"))
      (words[index + 1], input) = ("stdin", .nothing)
    }
    defer { try? FileManager.default.removeItem(at: url("stdin")) }
    words = words.indices.map { $0 == 0 ? words[0] : absolute(words[$0], after: words[$0 - 1]) }
    let run = await Run(of: words, environment: folders.merging(keys) { $1 }, input: input)
    return Run(
      status: run.status, stdout: relative(run.stdout),
      stderr: String(decoding: relative(Data(run.stderr.utf8)), as: UTF8.self))
  }

  func run(
    _ arguments: String..., keys: [String: String] = [:], input: ThumbsProcess.Input = .nothing
  ) async throws -> Run {
    try await run(arguments, keys: keys, input: input)
  }

  /// The options whose value is a path that need not be there.
  private static let paths: Set = [
    "--cache-dir", "--config", "--export", "--output", "-o", "--password-file", "--root", "--sheet",
    "--signing-keys", "--tar", "--urls",
  ]
  /// Those whose value only looks like one.
  private static let words: Set = ["--exclude", "--format", "--include", "--name", "--query", "--size"]

  private func absolute(_ word: String, after option: String) -> String {
    for start in ["@", "folder:"] where word.hasPrefix(start) {
      return start + path(String(word.dropFirst(start.count)))
    }
    let isThere = FileManager.default.fileExists(atPath: path(String(word.prefix { $0 != "/" })))
    let isPath = Self.paths.contains(option) || isThere && !word.hasPrefix("-") && !Self.words.contains(option)
    return isPath && word != "-" ? path(word) : word
  }

  private func path(_ path: String) -> String {
    path.isEmpty || path.hasPrefix("/") ? path : "\(directory.path)/\(path)"
  }

  private func relative(_ output: Data) -> Data {
    let folder = "(?<!file://)\(directory.path)/"
    let text = String(data: output, encoding: .utf8)
    return text.map { Data($0.replacingOccurrences(of: folder, with: "", options: .regularExpression).utf8) } ?? output
  }

  /// Runs the command to its end in a process of its own.
  func process(
    _ arguments: String..., environment: [String: String] = [:], input: ThumbsProcess.Input = .nothing,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Run {
    try await start(arguments, environment: environment, input: input).run(sourceLocation)
  }

  /// Starts the command in a process of its own, with the cache folder of this bench.
  func start(
    _ arguments: [String], environment: [String: String] = [:], input: ThumbsProcess.Input = .nothing,
    stdout: ThumbsProcess.Output = .captured, stderr: ThumbsProcess.Output = .captured, launcher: [String] = []
  ) throws -> ThumbsProcess {
    let others = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": NSTemporaryDirectory()]
    let variables = folders.merging(others) { $1 }.merging(environment) { $1 }
    return try ThumbsProcess(
      withCache(arguments), environment: variables, directory: directory, input: input, stdout: stdout, stderr: stderr,
      launcher: launcher)
  }

  private var folders: [String: String] { ["HOME": url("home").path, "XDG_CACHE_HOME": url("xdg").path] }

  /// The arguments with the cache folder, unless they name one or take none.
  private func withCache(_ arguments: [String]) -> [String] {
    let takesCache = ["prefetch", "search", "get", "worker", "cache", "doctor"].contains { arguments.first == $0 }
    let isNamed = arguments.contains("--help") || arguments.contains("--cache-dir")
    return takesCache && !isNamed && arguments != ["cache"] && arguments != ["cache", "empty"]
      ? arguments + ["--cache-dir", cache.path] : arguments
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

extension Run {
  /// A run within this process, in its folder. Of the variables, those that hold secrets, folders or proxies are seen.
  init(of words: [String], environment: [String: String] = [:], input: ThumbsProcess.Input = .nothing) async {
    let descriptors = [input.opened(), ThumbsProcess.Input.file(), ThumbsProcess.Input.file()]
    defer { for descriptor in descriptors { close(descriptor) } }
    let console = Console(input: descriptors[0], output: descriptors[1], error: descriptors[2])
    let status = await SecretVariables.$values.withValue(environment) {
      await Console.$standard.withValue(console) { await Thumbs.run(words) }
    }
    let printed = descriptors.dropFirst().map { descriptor in
      lseek(descriptor, 0, SEEK_SET)
      return FileHandle(fileDescriptor: descriptor).readDataToEndOfFile()
    }
    self.init(status: status.rawValue, stdout: printed[0], stderr: String(decoding: printed[1], as: UTF8.self))
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
