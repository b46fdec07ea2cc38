import DecodeSandbox
import Foundation
import ThumbnailCore
import Thumbnailer

/// The limits in force, and their origins.
extension Diagnostics {
  /// The origin of a limit.
  private enum Origin: String {
    /// Set in the configuration to another value than the default.
    case configuration
    /// The library's default.
    case standard = "default"
    /// The process's control group.
    case cgroup
    /// The machine or the process's own limits.
    case system

    var text: String {
      switch self {
      case .configuration: "as the option says"
      case .standard: "by default"
      case .cgroup: "from the control group"
      case .system: "from the system"
      }
    }
  }

  mutating func addLimits(_ configuration: ThumbnailPipeline.Configuration) {
    var limits: [(name: String, value: Int, unit: String, origin: Origin)] = []
    func add(_ name: String, _ value: Int?, _ unit: String = "bytes", _ origin: Origin = .system) {
      if let value { limits.append((name, value, unit, origin)) }
    }
    let standard = ThumbnailPipeline.Configuration(cacheDirectory: configuration.cacheDirectory)
    func add(
      _ name: String, _ path: KeyPath<ThumbnailPipeline.Configuration, Int>, _ unit: String = "bytes",
      otherwise origin: Origin = .standard
    ) {
      let value = configuration[keyPath: path]
      add(name, value, unit, value == standard[keyPath: path] ? origin : .configuration)
    }
    // The origin of lower defaults if memory is short.
    let cgroup = Cgroup.memoryLimit()
    let memory: Origin = MachineMemory.limit() == cgroup ? .cgroup : .system
    func origin(_ value: Int, unlessCapped standard: Int) -> Origin { value < standard ? memory : .standard }

    let (budget, chosen) = (configuration.memoryBudget.bytes, configuration.chosenMemoryBudget != nil)
    add(
      "memory budget", budget, "bytes", chosen ? .configuration : origin(budget, unlessCapped: MemoryBudget.standard))
    add("memory of one picture alone", configuration.largestDecode, "bytes", chosen ? .configuration : .standard)
    add(
      "memory cache", \.memoryCacheLimit.bytes,
      otherwise: origin(configuration.memoryCacheLimit.bytes, unlessCapped: MemoryBudget.standardMemoryCache))
    add("disk cache", \.diskCacheLimit.bytes)
    add("beginnings of broken downloads", \.partialDownloadLimit.bytes)
    add("downloads at once", \.downloads, "count")
    add("downloads at once from one host", \.downloadsPerHost, "count")
    add("decodes at once", \.jobs, "count", otherwise: .system)
    add("length of a picture's file", \.maximumSourceBytes.bytes)
    add("pixels of a picture", \.maximumPixels, "pixels")
    if !configuration.isolation.isInProcess {
      let limit = configuration.isolation.memoryLimit.bytes
      add(
        "memory of each helper", \.isolation.memoryLimit.bytes,
        otherwise: origin(limit, unlessCapped: DecodeIsolation.standardMemory))
    }
    add("memory of the control group", cgroup, "bytes", .cgroup)
    add("memory of the machine", Int(clamping: ProcessInfo.processInfo.physicalMemory))
    add("memory that is free now", configuration.freeMemory())
    let files = Self.openFiles
    add("open files", files, "count")

    let widest = limits.map(\.name.count).max() ?? 0
    paragraphs.append(
      ["limits:"]
        + limits.map { limit in
          let value = limit.unit == "bytes" ? "\(ByteSize(bytes: limit.value))" : "\(limit.value)"
          return "  \(limit.name.padded(to: widest))  \(value.aligned(to: 10))  \(limit.origin.text)"
        })
    self.add(
      "limits",
      limits.map {
        ["name": $0.name, "value": $0.value, "unit": $0.unit, "origin": $0.origin.rawValue] as JSONObject
      })
    check(openFiles: files, for: configuration)
  }

  mutating func check(openFiles: Int?, for configuration: ThumbnailPipeline.Configuration) {
    let needed = DescriptorBudget.needed(configuration)
    if let openFiles, openFiles < needed {
      add(
        .problem,
        "the process may open \(openFiles) files, and a busy pipeline needs \(needed), so it does less at once: raise "
          + "the limit, with ulimit -n 1024")
    }
  }

  /// The most files the process may have open; nil if unlimited.
  private static var openFiles: Int? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(Int32.max)
    else { return nil }
    return Int(limit.rlim_cur)
  }
}
