import Foundation
import DecodeSandbox
import ThumbnailCache
import HTTPTransport
import ThumbnailCore
import Thumbnailer

/// The output of `thumbs doctor`.
struct DoctorReport {
  let diagnostics: Diagnostics

  /// The human-readable text.
  var text: String {
    var paragraphs = [versions, formats]
    if let cache = diagnostics.cache { paragraphs.append(Self.text(of: cache)) }
    paragraphs += [limits, network, findings]
    return paragraphs.map { $0.map(PlainText.line).joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private var versions: [String] {
    [diagnostics.components.map { "\($0.name) \($0.version)" }.joined(separator: ", ")]
  }

  private var formats: [String] {
    func names(_ isMeant: (Diagnostics.FormatSupport) -> Bool) -> String {
      let names = diagnostics.formats.filter(isMeant).map(\.format.displayName)
      return names.isEmpty ? "nothing" : names.joined(separator: ", ")
    }
    var lines = [
      "read in process:  " + names { $0.reader == .process },
      "read in a helper: " + names { $0.reader == .helper },
      "not read:         " + names { $0.reader == .none },
      "written:          " + names(\.isWritten),
    ]
    if let helper = diagnostics.helper { lines.append("helper:           \(helper)") }
    if let walls { lines.append("helpers confined: " + (walls.isEmpty ? "by nothing" : walls.joined(separator: ", "))) }
    return lines
  }

  /// What confines helpers; nil if there are none.
  private var walls: [String]? {
    diagnostics.confinementGaps.map { gaps in
      let parts = ConfinementGap.Part.allCases.filter { part in !gaps.contains { $0.part == part } }
      return parts.map { part in
        switch part {
        case .systemCalls: "system calls (seccomp)"
        case .files: "files (Landlock)"
        case .namespaces: "namespaces"
        }
      }
    }
  }

  private static func text(of cache: CacheExamination) -> [String] {
    let place = cache.fileSystem.map { " on \($0)" } ?? ""
    let free = cache.freeBytes.map { ", \(ByteSize(bytes: $0)) free there" } ?? ""
    let contents =
      cache.isThere
      ? "\(cache.contents.thumbnails) thumbnails of \(cache.contents.sources) pictures, \(ByteSize(bytes: cache.contents.payloadBytes)), "
        + "\(ByteSize(bytes: cache.contents.fileBytes)) on disk"
      : "not there yet"
    return ["cache: \(cache.directory)\(place)\(free)", "  \(contents)"]
  }

  private var limits: [String] {
    let widest = diagnostics.limits.map(\.name.count).max() ?? 0
    return ["limits:"]
      + diagnostics.limits.map { limit in
        let value = limit.unit == .bytes ? "\(ByteSize(bytes: limit.value))" : "\(limit.value)"
        return "  \(limit.name.padded(to: widest))  \(value.aligned(to: 10))  \(Self.text(of: limit.origin))"
      }
  }

  private static func text(of origin: Diagnostics.Limit.Origin) -> String {
    switch origin {
    case .configuration: "as the option says"
    case .standard: "by default"
    case .cgroup: "from the control group"
    case .system: "from the system"
    }
  }

  private var network: [String] {
    guard let network = diagnostics.network else { return ["network: none without libcurl", addresses] }
    return [
      "network: " + network.httpVersions.map { "HTTP/\($0)" }.joined(separator: ", ")
        + ", TLS: \(network.tls ?? "none"), compressions: \(network.compressions.joined(separator: ", "))",
      "  libcurl's protocols: \(network.protocols.joined(separator: ", ")); thumbs uses http and https",
      addresses,
    ]
  }

  /// Which addresses may be reached.
  private var addresses: String {
    let policy = diagnostics.addresses
    func names(_ ranges: [AddressRange]) -> String { ranges.map { "\($0)" }.joined(separator: ", ") }
    var text = "  addresses: "
    if policy.isPublicOnly {
      text += "public ones only"
      if !policy.allowed.isEmpty { text += ", and \(names(policy.allowed))" }
    } else {
      text += "all, private networks and this machine, too"
    }
    if !policy.refused.isEmpty { text += "; never \(names(policy.refused))" }
    return text
  }

  private var findings: [String] {
    diagnostics.findings.isEmpty
      ? ["all is well"] : diagnostics.findings.map { "\($0.severity.rawValue): \($0.message)" }
  }

  /// The JSON object.
  var json: String {
    var versions = JSONObject()
    for component in diagnostics.components { versions.add(component.name, component.version) }
    let object: JSONObject = [
      "healthy": diagnostics.isHealthy,
      "versions": versions,
      "formats": diagnostics.formats.map(Self.json),
      "helper": diagnostics.helper,
      "confinement": diagnostics.confinementGaps.map { gaps in
        ConfinementGap.Part.allCases.reduce(into: JSONObject()) { object, part in
          object.add(part.rawValue, !gaps.contains { $0.part == part })
        }
      },
      "cache": diagnostics.cache.map(Self.json),
      "limits": diagnostics.limits.map(Self.json),
      "network": diagnostics.network.map(Self.json),
      "addresses": [
        "publicOnly": diagnostics.addresses.isPublicOnly,
        "allowed": diagnostics.addresses.allowed.map { "\($0)" },
        "refused": diagnostics.addresses.refused.map { "\($0)" },
      ] as JSONObject,
      "findings": diagnostics.findings.map {
        ["severity": $0.severity.rawValue, "message": $0.message] as JSONObject
      },
    ]
    return object.line
  }

  private static func json(_ support: Diagnostics.FormatSupport) -> JSONObject {
    [
      "format": support.format.rawValue,
      "reader": support.reader.rawValue,
      "readingProblem": support.readingProblem,
      "written": support.isWritten,
      "writingProblem": support.writingProblem,
    ]
  }

  private static func json(_ cache: CacheExamination) -> JSONObject {
    [
      "directory": cache.directory,
      "exists": cache.isThere,
      "thumbnails": cache.contents.thumbnails,
      "sources": cache.contents.sources,
      "bytes": cache.contents.payloadBytes,
      "fileBytes": cache.contents.fileBytes,
      "fileSystem": cache.fileSystem,
      "network": cache.isOnNetwork,
      "freeBytes": cache.freeBytes,
    ]
  }

  private static func json(_ limit: Diagnostics.Limit) -> JSONObject {
    ["name": limit.name, "value": limit.value, "unit": limit.unit.rawValue, "origin": limit.origin.rawValue]
  }

  private static func json(_ network: CurlFeatures) -> JSONObject {
    [
      "tls": network.tls,
      "protocols": network.protocols,
      "httpVersions": network.httpVersions,
      "compressions": network.compressions,
    ]
  }
}
