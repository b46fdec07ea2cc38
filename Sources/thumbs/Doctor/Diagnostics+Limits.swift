import Foundation
import DecodeSandbox
import ThumbnailCore
import Thumbnailer

/// The limits in force, and their origins.
extension Diagnostics {
  /// The limits of the configuration, and whether they are the defaults.
  static func limits(_ configuration: ThumbnailPipeline.Configuration) -> [Limit] {
    let standard = ThumbnailPipeline.Configuration(cacheDirectory: configuration.cacheDirectory)
    func limit(
      _ name: String, _ unit: Limit.Unit, _ path: KeyPath<ThumbnailPipeline.Configuration, Int>,
      otherwise origin: Limit.Origin = .standard
    ) -> Limit {
      let (value, usual) = (configuration[keyPath: path], standard[keyPath: path])
      return Limit(name: name, value: value, unit: unit, origin: value == usual ? origin : .configuration)
    }
    let cgroup = Cgroup.memoryLimit()
    // The origin of lower defaults if memory is short.
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
    if !configuration.isolation.isInProcess {
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
