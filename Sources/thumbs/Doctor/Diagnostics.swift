import DecodeSandbox
import Foundation
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// The state of this machine for a pipeline: versions, formats, the cache, limits, the network, and findings with
/// advice.
struct Diagnostics: Sendable {
  /// The support for a format, found by a trial with a tiny image.
  struct FormatSupport: Sendable, Equatable {
    /// The process that reads a format.
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
    /// The process that reads it.
    var reader: Reader
    /// The reason why it cannot be read; nil if it can, or if no helper is configured for it.
    var readingProblem: String?
    /// Whether thumbnails of this format are written.
    var isWritten: Bool
    /// The reason why it cannot be written; nil if it can.
    var writingProblem: String?
  }

  /// A limit in force.
  struct Limit: Sendable, Equatable {
    /// The unit of the number.
    enum Unit: String, Sendable {
      case bytes, count, pixels
    }

    /// The origin of the number.
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

    /// The name of the limit.
    var name: String
    /// The limit, in `unit`.
    var value: Int
    /// The unit of `value`.
    var unit: Unit
    /// The origin of `value`.
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
    /// The problem and what to do about it, in one line.
    var message: String
  }

  /// The command and its dependencies, with their versions.
  var components: [(name: String, version: String)]
  /// Every known format.
  var formats: [FormatSupport]
  /// The program that decodes; nil if helpers are turned off.
  var helper: String?
  /// The missing parts of a helper's confinement; nil if helpers are turned off or none can be started.
  var confinementGaps: [ConfinementGap]?
  /// The disk cache; nil if it is turned off.
  var cache: CacheExamination?
  /// The limits in force.
  var limits: [Limit]
  /// The policy of addresses.
  var addresses: AddressPolicy
  /// The features of libcurl; nil without libcurl.
  var network: CurlFeatures?
  /// The findings, problems first.
  var findings: [Finding]

  /// Whether nothing that is needed is missing.
  var isHealthy: Bool { !findings.contains { $0.severity == .problem } }
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
    do {
      return try await pool.run { cancellation in Diagnostics(configuration, cancellation) }
    } catch {
      throw .cancelled
    }
  }

  /// Blocks.
  private init(_ configuration: ThumbnailPipeline.Configuration, _ cancellation: CancellationFlag) {
    network = CurlFeatures()
    addresses = configuration.addresses
    components = [
      ("thumbs", ThumbnailPipeline.version),
      ("Swift", Self.swiftVersion),
      ("libvips", Codec.version ?? "missing"),
      ("libjpeg-turbo", Codec.jpegVersion),
      ("ISA-L", PNGInflater.version),
      ("libwebp", Codec.webPVersion),
      ("libtiff", Codec.tiffVersion ?? "missing"),
      ("libde265", Codec.de265Version ?? "missing"),
      ("dav1d", Codec.dav1dVersion ?? "missing"),
      ("OpenJPEG", Codec.openJPEGVersion ?? "missing"),
      ("libcurl", network?.version ?? "missing"),
      ("SQLite", CacheExamination.databaseVersion ?? "missing"),
    ]
    let helpers = configuration.isolation.isInProcess ? nil : HelperPool(configuration.isolation)
    helper = helpers?.program
    confinementGaps = try? helpers?.gaps()
    formats = Self.formats(configuration, helpers, cancellation)
    limits = Self.limits(configuration)
    findings = Self.findings(of: formats) + Self.findings(of: confinementGaps ?? []) + Self.findings(of: network)
    if configuration.diskCacheLimit.bytes > 0 {
      let examination = CacheExamination(directory: configuration.cacheDirectory)
      findings += Self.findings(of: examination, limit: configuration.diskCacheLimit)
      cache = examination
    }
    findings += Self.findings(of: limits, configuration)
    findings.sort { $0.severity == .problem && $1.severity == .remark }
  }

  /// The compiler that the library was built with.
  private static var swiftVersion: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }

  private static func formats(
    _ configuration: ThumbnailPipeline.Configuration, _ helpers: HelperPool?, _ cancellation: CancellationFlag
  ) -> [FormatSupport] {
    let admitsUnsafe = configuration.isolation.admitsUnsafe(isUserFile: true)
    return ImageFormat.allCases.map { format in
      var support = FormatSupport(format: format, reader: .none, isWritten: false)
      if cancellation.isSet { return support }
      if format.isReadInProcess || admitsUnsafe {
        let failure = FormatTrial.reading(format, in: helpers)
        support.reader = failure == nil ? (helpers == nil ? .process : .helper) : .none
        support.readingProblem = failure.map { "\($0)" }
      }
      if OutputFormat.allCases.contains(where: { $0.rawValue == format.rawValue }) {
        support.writingProblem = FormatTrial.writing(format).map { "\($0)" }
        support.isWritten = support.writingProblem == nil
      }
      return support
    }
  }
}
