import Foundation
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// The state of this machine for a pipeline: versions, formats, the cache, the network, and findings with
/// advice. Each part adds a paragraph for people, members for programs, and its findings.
struct Diagnostics: Sendable {
  /// A problem or remark, and what to do about it, in one line.
  struct Finding: Sendable, Equatable {
    enum Severity: String, Sendable {
      /// Something needed is missing or broken.
      case problem
      /// Something is not as good as it could be.
      case remark
    }

    var severity: Severity
    var message: String
  }

  var paragraphs: [[String]] = []
  private var members: [(name: String, value: (any JSONValue & Sendable)?)] = []
  private var found: [Finding] = []

  /// The problems, then the remarks.
  var findings: [Finding] {
    found.filter { $0.severity == .problem } + found.filter { $0.severity == .remark }
  }

  /// Whether nothing that is needed is missing.
  var isHealthy: Bool { !found.contains { $0.severity == .problem } }

  mutating func add(_ name: String, _ value: (any JSONValue & Sendable)?) { members.append((name, value)) }

  mutating func add(_ severity: Finding.Severity, _ message: String) {
    found.append(Finding(severity: severity, message: message))
  }

  /// The human-readable text.
  var text: String {
    let last = found.isEmpty ? ["all is well"] : findings.map { "\($0.severity.rawValue): \($0.message)" }
    return (paragraphs + [last]).map { $0.map(PlainText.line).joined(separator: "\n") }.joined(separator: "\n\n")
  }

  /// The JSON object.
  var json: JSONObject {
    var json: JSONObject = ["healthy": isHealthy]
    for (name, value) in members { json.add(name, value) }
    json.add("findings", findings.map { ["severity": $0.severity.rawValue, "message": $0.message] as JSONObject })
    return json
  }
}

extension Diagnostics {
  /// Examines everything that a pipeline of this configuration would use, and tries every format. Creates and changes
  /// nothing, even if the cache is damaged. Takes a second if helpers read the unsafe formats.
  ///
  /// - Throws: `ThumbnailError.invalidRequest` for invalid values, as `ThumbnailPipeline` does.
  static func gather(
    _ configuration: ThumbnailPipeline.Configuration
  ) async throws(ThumbnailError) -> Diagnostics {
    if let problem = configuration.problem { throw .invalidRequest(reason: problem) }
    let pool = WorkerPool(name: "thumbnailer.diagnostics", threads: 1) { Codec.threadWillEnd() }
    return try await pool.run(orThrow: ThumbnailError.cancelled) { cancellation throws(ThumbnailError) in
      var diagnostics = Diagnostics()
      let network = CurlFeatures()
      diagnostics.addVersions(network)
      diagnostics.addFormats(configuration, cancellation)
      if configuration.diskCacheLimit.bytes > 0 {
        diagnostics.add(CacheExamination(directory: configuration.cacheDirectory), limit: configuration.diskCacheLimit)
      }
      diagnostics.add(network)
      return diagnostics
    }
  }

  /// The command and its dependencies.
  private mutating func addVersions(_ network: CurlFeatures?) {
    let versions: [(name: String, version: String?)] = [
      ("thumbs", ThumbnailPipeline.version), ("libvips", Codec.version), ("libjpeg-turbo", Codec.jpegVersion),
      ("ISA-L", PNGInflater.version), ("libwebp", Codec.webPVersion),
      ("libtiff", Codec.tiffVersion), ("libde265", Codec.de265Version), ("dav1d", Codec.dav1dVersion),
      ("libcurl", network?.version), ("SQLite", CacheExamination.databaseVersion),
    ]
    paragraphs.append([versions.map { "\($0.name) \($0.version ?? "missing")" }.joined(separator: ", ")])
    add("versions", versions.reduce(into: JSONObject()) { $0.add($1.name, $1.version ?? "missing") })
  }

  mutating func add(_ cache: CacheExamination, limit: ByteSize) {
    let free = cache.freeBytes
    paragraphs.append([
      "cache: \(cache.directory)" + (cache.fileSystem.map { " on \($0)" } ?? "")
        + (free.map { ", \(ByteSize(bytes: $0)) free there" } ?? "") + (cache.isThere ? "" : ", not there yet")
    ])
    add(
      "cache",
      [
        "directory": cache.directory, "exists": cache.isThere, "fileSystem": cache.fileSystem,
        "network": cache.isOnNetwork, "freeBytes": free,
      ] as JSONObject)
    switch cache.problem {
    case nil: break
    case .damaged(let path, let reason):
      add(.problem, "the cache \(path) is damaged: \(reason); the next run begins it anew")
    case .some(let problem): add(.problem, "\(problem)")
    }
    if cache.isOnNetwork {
      add(
        .problem,
        "\(cache.directory) is on a network file system (\(cache.fileSystem ?? "unknown")), where the cache can be "
          + "damaged: choose a folder on a local disk")
    }
    let growth = limit.bytes + limit.bytes / 10 - cache.fileBytes
    if cache.problem == nil, let free, free < growth {
      add(
        .remark,
        "the cache may grow by \(ByteSize(bytes: growth)), and its disk has \(ByteSize(bytes: free)) left: make room, "
          + "or lower the disk cache's limit")
    }
    if let exposure = cache.exposure { add(.remark, exposure) }
  }

  private mutating func add(_ network: CurlFeatures?) {
    var lines = ["network: none without libcurl"]
    let install = "install another, with apt install libcurl4"
    if let network {
      lines = [
        "network: " + network.httpVersions.map { "HTTP/\($0)" }.joined(separator: ", ")
          + ", TLS: \(network.tls ?? "none"), compressions: \(network.compressions.joined(separator: ", "))",
        "  libcurl's protocols: \(network.protocols.joined(separator: ", ")); thumbs uses http and https",
      ]
      add(
        "network",
        [
          "tls": network.tls, "protocols": network.protocols, "httpVersions": network.httpVersions,
          "compressions": network.compressions,
        ] as JSONObject)
      for scheme in ["http", "https"] where !network.protocols.contains(scheme) {
        add(.problem, "this libcurl knows no \(scheme): \(install)")
      }
      if !network.httpVersions.contains("2") {
        add(
          .remark,
          "this libcurl knows no HTTP/2, which fetches many pictures of one host over one connection: \(install)")
      }
      if !network.resolvesAsynchronously {
        add(.remark, "this libcurl holds up all transfers while it looks up a name: \(install)")
      }
    } else {
      add(.problem, "libcurl cannot be started: \(CurlLibrary.startFailure ?? "no memory"); \(install)")
    }
    paragraphs.append(lines)
  }
}
