/// What a worker has printed, each line of it held to the schema.
struct WorkerResponses {
  /// The response to a line.
  struct Response: Decodable {
    struct Failure: Decodable {
      let stage, code, message: String
      let retry: Bool
    }
    struct Response: Decodable, Equatable {
      var status: Int?
      let attempts: Int
    }
    struct Made: Decodable {
      let size, format, sha256, cacheKey, origin: String
      let width, height, bytes: Int
      var path, data: String?
    }

    let line: Int
    let status: String
    var key, url, path, shard: String?
    let thumbnails: [Made]
    var error: Failure?
    var original: String?
    var http: Response?
    let stages: [String: Double]
    /// The id as it stands in the line.
    var id: String?

    enum CodingKeys: CodingKey { case line, status, key, url, path, shard, thumbnails, error, original, http, stages }
  }

  /// A line about a shard.
  struct Shard: Decodable {
    let path, status: String
    let first, lines, samples: Int
    var bytes: Int?
    var sha256: String?
  }

  let run: Run
  private(set) var lines: [Response] = []
  private(set) var shards: [Shard] = []

  private static let schema = Result {
    try JSONSchema(
      Data(
        contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
          .deletingLastPathComponent().appending(path: "docs/worker.schema.json")))
  }

  init(_ run: Run) throws {
    self.run = run
    for text in run.lines {
      let problems = try Self.schema.get().problems(of: Data(text.utf8))
      #expect(problems.isEmpty, "\(text): \(problems)")
      let data = Data(text.utf8)
      if let shard = try? JSONDecoder().decode([String: Shard].self, from: data)["shard"] {
        shards.append(shard)
      } else {
        var response = try JSONDecoder().decode(Response.self, from: data)
        if let id = text.firstRange(of: "\"id\":"), let end = text.firstRange(of: ",\"status\"") {
          response.id = String(text[id.upperBound..<end.lowerBound])
        }
        lines.append(response)
      }
    }
    #expect(Set(lines.map(\.line)).count == lines.count, "a line was responded to twice")
  }

  /// The response to the line with that number.
  subscript(_ number: Int) -> Response? { lines.first { $0.line == number } }
}

extension Bench {
  /// Unpacks a tar archive into a folder, which is made.
  func unpack(_ archive: String, into folder: String) throws {
    try FileManager.default.createDirectory(at: url(folder), withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/tar")
    process.arguments = ["xf", url(archive).path, "-C", url(folder).path]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
