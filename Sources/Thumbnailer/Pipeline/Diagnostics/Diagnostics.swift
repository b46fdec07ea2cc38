public import ThumbnailCore

/// What a pipeline would find on this machine: versions, formats, the cache, limits, the network, and what is wrong or
/// missing, with what to do about it.
///
///     let diagnostics = await Diagnostics.gather(configuration)
///     for finding in diagnostics.findings { print(finding.message) }
public struct Diagnostics: Sendable {
  /// A part that the pipeline is made of.
  public struct Component: Sendable, Equatable {
    /// Such as `libvips`.
    public var name: String
    /// Such as `8.14.1`.
    public var version: String
  }

  /// What can be done with a format, as it was found by trying with a tiny picture.
  public struct FormatSupport: Sendable, Equatable {
    /// Where a format is read.
    public enum Reader: String, Sendable, Codable {
      /// In the pipeline's own process.
      case process
      /// In a helper process.
      case helper
      /// Nowhere.
      case none
    }

    /// The format.
    public var format: ImageFormat
    /// Where it is read.
    public var reader: Reader
    /// Why it is not read, where it could be; nil where it is read, or where no helper is to read it.
    public var readingProblem: String?
    /// Whether thumbnails of this format are written.
    public var isWritten: Bool
    /// Why it is not written, where it could be.
    public var writingProblem: String?
  }

  /// The state of the disk cache.
  public struct CacheState: Sendable, Equatable {
    /// The folder.
    public var directory: String
    /// Whether the folder is there; else the first run makes it.
    public var isThere: Bool
    /// Thumbnails in it.
    public var thumbnails: Int
    /// Pictures they are of.
    public var sources: Int
    /// The length of all thumbnails, in bytes.
    public var payloadBytes: Int
    /// The length of the cache's files, in bytes.
    public var fileBytes: Int
    /// What its file system is called, where it is a known one.
    public var fileSystem: String?
    /// Whether that is shared with other machines.
    public var isOnNetwork: Bool
    /// The room that is left on its disk, in bytes, where that is told.
    public var freeBytes: Int?
  }

  /// A limit in force.
  public struct Limit: Sendable, Equatable {
    /// What the number counts.
    public enum Unit: String, Sendable, Codable {
      case bytes, count, pixels
    }

    /// Where the number comes from.
    public enum Origin: String, Sendable, Codable {
      /// The configuration has another value than the default.
      case configuration
      /// The library's default.
      case standard = "default"
      /// The process's control group.
      case cgroup
      /// The machine or the process's own limits.
      case system
    }

    /// What is limited.
    public var name: String
    /// The most of it.
    public var value: Int
    /// What `value` counts.
    public var unit: Unit
    /// Where `value` comes from.
    public var origin: Origin
  }

  /// What libcurl offers.
  public struct Network: Sendable, Equatable {
    /// The library for TLS with its version; nil where there is none.
    public var tls: String?
    /// The schemes it knows.
    public var protocols: [String]
    /// The versions of HTTP: `1.1`, `2`, `3`.
    public var httpVersions: [String]
    /// The compressions of transfers.
    public var compressions: [String]
  }

  /// Something that its user should know.
  public struct Finding: Sendable, Equatable {
    /// How bad it is.
    public enum Severity: String, Sendable, Codable {
      /// Something needed is missing or broken.
      case problem
      /// Something is not as good as it could be.
      case remark
    }

    /// How bad it is.
    public var severity: Severity
    /// What is wrong and what to do about it, in one line.
    public var message: String
  }

  /// The library and what it stands on.
  public var components: [Component]
  /// Every known format.
  public var formats: [FormatSupport]
  /// The disk cache; nil where it is turned off.
  public var cache: CacheState?
  /// The limits in force.
  public var limits: [Limit]
  /// The network.
  public var network: Network
  /// What is wrong or missing, problems first.
  public var findings: [Finding]

  /// Whether nothing that is needed is missing.
  public var isHealthy: Bool { !findings.contains { $0.severity == .problem } }
}
