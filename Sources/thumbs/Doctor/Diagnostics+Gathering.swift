import DecodeSandbox
import Foundation
import HTTPTransport
import ImageCodec
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

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
    let gathered = try? await pool.run(priority: PriorityControl(.visible)) { cancellation in
      Result<Diagnostics, Never>.success(Diagnostics(configuration, cancellation))
    }.get()
    guard let gathered else { throw .cancelled }
    return gathered
  }

  /// Blocks.
  private init(_ configuration: ThumbnailPipeline.Configuration, _ cancellation: CancellationFlag) {
    network = CurlFeatures()
    components = [
      Component(name: "Thumbnailer", version: ThumbnailPipeline.version),
      Component(name: "Swift", version: Self.swiftVersion),
      Component(name: "libvips", version: Codec.version),
      Component(name: "libcurl", version: network.version),
      Component(name: "SQLite", version: CacheExamination.databaseVersion ?? "missing"),
    ]
    formats = Self.formats(configuration, cancellation)
    limits = Self.limits(configuration)
    findings = Self.findings(of: formats) + Self.findings(of: network)
    if configuration.diskCacheLimit.bytes > 0 {
      let examination = CacheExamination(directory: configuration.cacheDirectory)
      findings += Self.findings(of: examination, limit: configuration.diskCacheLimit)
      findings += [examination.exposure].compactMap { $0.map { Finding(severity: .remark, message: $0) } }
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
    _ configuration: ThumbnailPipeline.Configuration, _ cancellation: CancellationFlag
  ) -> [FormatSupport] {
    let isolation = configuration.isolation
    let helpers = isolation.executable == nil ? nil : HelperPool(isolation)
    return ImageFormat.allCases.map { format in
      var support = FormatSupport(format: format, reader: .none, isWritten: false)
      let isHelpers = isolation.formats == .all || !format.isReadInProcess
      if cancellation.isSet { return support }
      if !isHelpers {
        (support.reader, support.readingProblem) = outcome(FormatTrial.reading(format), .process)
      } else if let helpers, isolation.unsafeSources != .none || format.isReadInProcess {
        (support.reader, support.readingProblem) = outcome(FormatTrial.reading(format, in: helpers), .helper)
      }
      if OutputFormat.allCases.contains(where: { $0.rawValue == format.rawValue }) {
        support.writingProblem = FormatTrial.writing(format).map { "\($0)" }
        support.isWritten = support.writingProblem == nil
      }
      return support
    }
  }

  private static func outcome(
    _ failure: CodecError?, _ reader: FormatSupport.Reader
  ) -> (FormatSupport.Reader, String?) {
    failure.map { (.none, "\($0)") } ?? (reader, nil)
  }

  /// The limits of the configuration, and whether they are the defaults.
  private static func limits(_ configuration: ThumbnailPipeline.Configuration) -> [Limit] {
    let standard = ThumbnailPipeline.Configuration(cacheDirectory: configuration.cacheDirectory)
    func limit(
      _ name: String, _ unit: Limit.Unit, _ path: KeyPath<ThumbnailPipeline.Configuration, Int>,
      otherwise origin: Limit.Origin = .standard
    ) -> Limit {
      let (value, usual) = (configuration[keyPath: path], standard[keyPath: path])
      return Limit(name: name, value: value, unit: unit, origin: value == usual ? origin : .configuration)
    }
    let cgroup = Cgroup.memoryLimit()
    // What lowers the defaults if memory is short.
    let memory: Limit.Origin = MachineMemory.limit() == cgroup ? .cgroup : .system
    func origin(_ value: Int, unlessCapped standard: Int) -> Limit.Origin { value < standard ? memory : .standard }
    let budget = configuration.memoryBudget.bytes
    var limits = [
      Limit(
        name: "memory budget", value: budget, unit: .bytes,
        origin: configuration.chosenMemoryBudget == nil
          ? origin(budget, unlessCapped: MemoryBudget.standard) : .configuration),
      Limit(
        name: "memory of one picture alone", value: configuration.largestDecode, unit: .bytes,
        origin: configuration.chosenMemoryBudget == nil ? .standard : .configuration),
      limit(
        "memory cache", .bytes, \.memoryCacheLimit.bytes,
        otherwise: origin(configuration.memoryCacheLimit.bytes, unlessCapped: MemoryBudget.standardMemoryCache)),
      limit("disk cache", .bytes, \.diskCacheLimit.bytes),
      limit("beginnings of broken downloads", .bytes, \.partialDownloadLimit.bytes),
      limit("downloads at once", .count, \.downloads),
      limit("downloads at once from one host", .count, \.downloadsPerHost),
      limit("decodes at once", .count, \.jobs, otherwise: .system),
      limit("length of a picture's file", .bytes, \.maximumSourceBytes.bytes),
      limit("pixels of a picture", .pixels, \.maximumPixels),
    ]
    if configuration.isolation.executable != nil {
      limits.append(
        limit(
          "memory of each helper", .bytes, \.isolation.memoryLimit.bytes,
          otherwise: origin(configuration.isolation.memoryLimit.bytes, unlessCapped: DecodeIsolation.standardMemory)))
    }
    if let cgroup {
      limits.append(Limit(name: "memory of the control group", value: cgroup, unit: .bytes, origin: .cgroup))
    }
    let machine = Int(clamping: ProcessInfo.processInfo.physicalMemory)
    limits.append(Limit(name: "memory of the machine", value: machine, unit: .bytes, origin: .system))
    if let free = configuration.freeMemory() {
      limits.append(Limit(name: "memory that is free now", value: free, unit: .bytes, origin: .system))
    }
    if let files = openFiles {
      limits.append(Limit(name: Self.openFilesName, value: files, unit: .count, origin: .system))
    }
    return limits
  }

  static let openFilesName = "open files"

  /// The most files the process may have open; nil if unlimited.
  private static var openFiles: Int? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(Int32.max)
    else { return nil }
    return Int(limit.rlim_cur)
  }
}
