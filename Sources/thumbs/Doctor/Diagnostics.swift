import Thumbnailer

/// What a pipeline would find on this machine: versions, formats, the cache, limits, the network, and what is wrong or
/// missing, with what to do about it.
struct Diagnostics: Sendable {
  /// A library or component that the pipeline uses.
  struct Component: Sendable, Equatable {
    /// Such as `libvips`.
    var name: String
    /// Such as `8.14.1`.
    var version: String
  }

  /// What is supported of a format, found by trying with a tiny image.
  struct FormatSupport: Sendable, Equatable {
    /// Where a format is read.
    enum Reader: String, Sendable {
      /// In the pipeline's own process.
      case process
      /// In a helper process.
      case helper
      /// Nowhere.
      case none
    }

    /// The format.
    var format: ImageFormat
    /// Where it is read.
    var reader: Reader
    /// Why it is not read, where it could be; nil where it is read, or where no helper is configured for it.
    var readingProblem: String?
    /// Whether thumbnails of this format are written.
    var isWritten: Bool
    /// Why it is not written, where it could be.
    var writingProblem: String?
  }

  /// A limit in force.
  struct Limit: Sendable, Equatable {
    /// What the number counts.
    enum Unit: String, Sendable {
      case bytes, count, pixels
    }

    /// Where the number comes from.
    enum Origin: String, Sendable {
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
    var name: String
    /// The limit, in `unit`.
    var value: Int
    /// What `value` counts.
    var unit: Unit
    /// Where `value` comes from.
    var origin: Origin
  }

  /// A problem or remark for the user.
  struct Finding: Sendable, Equatable {
    /// How bad it is.
    enum Severity: String, Sendable {
      /// Something needed is missing or broken.
      case problem
      /// Something is not as good as it could be.
      case remark
    }

    /// How bad it is.
    var severity: Severity
    /// What is wrong and what to do about it, in one line.
    var message: String
  }

  /// The library and its dependencies.
  var components: [Component]
  /// Every known format.
  var formats: [FormatSupport]
  /// The disk cache; nil if it is turned off.
  var cache: CacheExamination?
  /// The limits in force.
  var limits: [Limit]
  /// What libcurl offers.
  var network: CurlFeatures
  /// What is wrong or missing, problems first.
  var findings: [Finding]

  /// Whether nothing that is needed is missing.
  var isHealthy: Bool { !findings.contains { $0.severity == .problem } }
}
