public import ThumbnailCore

/// What a pipeline would find on this machine: versions, formats, the cache, limits, the network, and what is wrong or
/// missing, with what to do about it.
///
///     let diagnostics = await Diagnostics.gather(configuration)
///     for finding in diagnostics.findings { print(finding.message) }
public struct Diagnostics: Sendable {
  /// A library or component that the pipeline uses.
  public struct Component: Sendable, Equatable {
    /// Such as `libvips`.
    public var name: String
    /// Such as `8.14.1`.
    public var version: String
  }

  /// What is supported of a format, found by trying with a tiny image.
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
    /// Why it is not read, where it could be; nil where it is read, or where no helper is configured for it.
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
    /// Whether the folder exists; otherwise the first run creates it.
    public var isThere: Bool
    /// The number of thumbnails.
    public var thumbnails: Int
    /// The number of source images with thumbnails.
    public var sources: Int
    /// The length of all thumbnails, in bytes.
    public var payloadBytes: Int
    /// The length of the cache's files, in bytes.
    public var fileBytes: Int
    /// The name of its file system, if known.
    public var fileSystem: String?
    /// Whether that is a network file system.
    public var isOnNetwork: Bool
    /// The free space on its disk in bytes, if known.
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
      /// Set in the configuration to another value than the default.
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
    /// The limit, in `unit`.
    public var value: Int
    /// What `value` counts.
    public var unit: Unit
    /// Where `value` comes from.
    public var origin: Origin
  }

  /// What libcurl offers.
  public struct Network: Sendable, Equatable {
    /// The TLS library with its version; nil if there is none.
    public var tls: String?
    /// The supported URL schemes.
    public var protocols: [String]
    /// The versions of HTTP: `1.1`, `2`, `3`.
    public var httpVersions: [String]
    /// The supported content encodings.
    public var compressions: [String]
  }

  /// A problem or remark for the user.
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

  /// The library and its dependencies.
  public var components: [Component]
  /// Every known format.
  public var formats: [FormatSupport]
  /// The disk cache; nil if it is turned off.
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
