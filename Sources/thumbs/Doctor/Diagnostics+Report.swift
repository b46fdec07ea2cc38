import HTTPTransport
import ThumbnailCache
import DecodeSandbox
import ThumbnailCore
import Foundation
import Thumbnailer

/// The output of `thumbs doctor`.
extension Diagnostics {
  /// The human-readable text.
  var text: String {
    let versions = components.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
    let paragraphs = [[versions], formatLines, cache.map(Self.lines), limitLines, networkLines, findingLines]
    return paragraphs.compactMap { $0?.map(PlainText.line).joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private var formatLines: [String] {
    func names(_ isMeant: (FormatSupport) -> Bool) -> String {
      let names = formats.filter(isMeant).map(\.format.displayName)
      return names.isEmpty ? "nothing" : names.joined(separator: ", ")
    }
    var lines = [
      "read in process:  " + names { $0.reader == .process },
      "read in a helper: " + names { $0.reader == .helper },
      "not read:         " + names { $0.reader == .none },
      "written:          " + names(\.isWritten),
    ]
    if let helper { lines.append("helper:           \(helper)") }
    if let confinement {
      let walls = confinement.filter(\.isThere).map { wall in
        switch wall.part {
        case .systemCalls: "system calls (seccomp)"
        case .files: "files (Landlock)"
        case .namespaces: "namespaces"
        }
      }
      lines.append("helpers confined: " + (walls.isEmpty ? "by nothing" : walls.joined(separator: ", ")))
    }
    return lines
  }

  /// The parts of the helpers' confinement, and the missing ones; nil if there are no helpers.
  private var confinement: [(part: ConfinementGap.Part, isThere: Bool)]? {
    confinementGaps.map { gaps in
      ConfinementGap.Part.allCases.map { part in (part, !gaps.contains { $0.part == part }) }
    }
  }

  private static func lines(of cache: CacheExamination) -> [String] {
    let place = cache.fileSystem.map { " on \($0)" } ?? ""
    let free = cache.freeBytes.map { ", \(ByteSize(bytes: $0)) free there" } ?? ""
    let held = cache.contents
    let contents =
      "\(held.thumbnails) thumbnails of \(held.sources) pictures, \(ByteSize(bytes: held.payloadBytes)), "
      + "\(ByteSize(bytes: held.fileBytes)) on disk"
    return ["cache: \(cache.directory)\(place)\(free)", "  \(cache.isThere ? contents : "not there yet")"]
  }

  private var limitLines: [String] {
    let widest = limits.map(\.name.count).max() ?? 0
    return ["limits:"]
      + limits.map { limit in
        let value = limit.unit == .bytes ? "\(ByteSize(bytes: limit.value))" : "\(limit.value)"
        let origin =
          switch limit.origin {
          case .configuration: "as the option says"
          case .standard: "by default"
          case .cgroup: "from the control group"
          case .system: "from the system"
          }
        return "  \(limit.name.padded(to: widest))  \(value.aligned(to: 10))  \(origin)"
      }
  }

  private var networkLines: [String] {
    guard let network else { return ["network: none without libcurl", addressLine] }
    return [
      "network: " + network.httpVersions.map { "HTTP/\($0)" }.joined(separator: ", ")
        + ", TLS: \(network.tls ?? "none"), compressions: \(network.compressions.joined(separator: ", "))",
      "  libcurl's protocols: \(network.protocols.joined(separator: ", ")); thumbs uses http and https",
      addressLine,
    ]
  }

  /// The policy of addresses.
  private var addressLine: String {
    func names(_ ranges: [AddressRange]) -> String { ranges.map { "\($0)" }.joined(separator: ", ") }
    var text = "  addresses: all, private networks and this machine, too"
    if addresses.isPublicOnly {
      text = "  addresses: public ones only"
      if !addresses.allowed.isEmpty { text += ", and \(names(addresses.allowed))" }
    }
    return addresses.refused.isEmpty ? text : text + "; never \(names(addresses.refused))"
  }

  private var findingLines: [String] {
    findings.isEmpty ? ["all is well"] : findings.map { "\($0.severity.rawValue): \($0.message)" }
  }

  /// The JSON object.
  var json: JSONObject {
    [
      "healthy": isHealthy,
      "versions": components.reduce(into: JSONObject()) { $0.add($1.name, $1.version) },
      "formats": formats.map { support -> JSONObject in
        [
          "format": support.format.rawValue, "reader": support.reader.rawValue,
          "readingProblem": support.readingProblem, "written": support.isWritten,
          "writingProblem": support.writingProblem,
        ]
      },
      "helper": helper,
      "confinement": confinement.map { $0.reduce(into: JSONObject()) { $0.add($1.part.rawValue, $1.isThere) } },
      "cache": cache.map(Self.json),
      "limits": limits.map { limit -> JSONObject in
        ["name": limit.name, "value": limit.value, "unit": limit.unit.rawValue, "origin": limit.origin.rawValue]
      },
      "network": network.map { network -> JSONObject in
        [
          "tls": network.tls, "protocols": network.protocols, "httpVersions": network.httpVersions,
          "compressions": network.compressions,
        ]
      },
      "addresses": [
        "publicOnly": addresses.isPublicOnly, "allowed": addresses.allowed.map { "\($0)" },
        "refused": addresses.refused.map { "\($0)" },
      ] as JSONObject,
      "findings": findings.map { ["severity": $0.severity.rawValue, "message": $0.message] as JSONObject },
    ]
  }

  private static func json(_ cache: CacheExamination) -> JSONObject {
    [
      "directory": cache.directory, "exists": cache.isThere, "thumbnails": cache.contents.thumbnails,
      "sources": cache.contents.sources, "bytes": cache.contents.payloadBytes, "fileBytes": cache.contents.fileBytes,
      "fileSystem": cache.fileSystem, "network": cache.isOnNetwork, "freeBytes": cache.freeBytes,
    ]
  }
}
