import Foundation
import Thumbnailer

/// The output of `thumbs doctor`.
struct DoctorReport {
  private let diagnostics: Diagnostics

  init(_ diagnostics: Diagnostics) { self.diagnostics = diagnostics }

  /// The human-readable text.
  var text: String {
    var paragraphs = [versions, formats]
    if let cache = diagnostics.cache { paragraphs.append(Self.text(of: cache)) }
    paragraphs += [limits, network, findings]
    return paragraphs.map { $0.map(PlainText.line).joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private var versions: [String] { [components.map { "\($0.name) \($0.version)" }.joined(separator: ", ")] }

  /// The library is listed under the command's name.
  private var components: [(name: String, version: String)] {
    diagnostics.components.map { ($0.name == "Thumbnailer" ? "thumbs" : $0.name, $0.version) }
  }

  private var formats: [String] {
    func names(_ isMeant: (Diagnostics.FormatSupport) -> Bool) -> String {
      let names = diagnostics.formats.filter(isMeant).map(\.format.displayName)
      return names.isEmpty ? "nothing" : names.joined(separator: ", ")
    }
    return [
      "read in process:  " + names { $0.reader == .process },
      "read in a helper: " + names { $0.reader == .helper },
      "not read:         " + names { $0.reader == .none },
      "written:          " + names(\.isWritten),
    ]
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
        let name = limit.name.padding(toLength: widest, withPad: " ", startingAt: 0)
        let padding = String(repeating: " ", count: max(0, 10 - value.count))
        return "  \(name)  \(padding)\(value)  \(Self.words(limit.origin))"
      }
  }

  private static func words(_ origin: Diagnostics.Limit.Origin) -> String {
    switch origin {
    case .configuration: "as the option says"
    case .standard: "by default"
    case .cgroup: "from the control group"
    case .system: "from the system"
    }
  }

  private var network: [String] {
    let network = diagnostics.network
    return [
      "network: " + network.httpVersions.map { "HTTP/\($0)" }.joined(separator: ", ")
        + ", TLS: \(network.tls ?? "none"), compressions: \(network.compressions.joined(separator: ", "))",
      "  libcurl's protocols: \(network.protocols.joined(separator: ", ")); thumbs uses http and https",
    ]
  }

  private var findings: [String] {
    diagnostics.findings.isEmpty
      ? ["all is well"] : diagnostics.findings.map { "\($0.severity.rawValue): \($0.message)" }
  }

  /// The JSON object.
  var json: String {
    var object = JSONObject()
    object.add("healthy", diagnostics.isHealthy)
    var versions = JSONObject()
    for component in components { versions.add(component.name, component.version) }
    object.add("versions", versions)
    object.add("formats", diagnostics.formats.map(Self.json))
    if let cache = diagnostics.cache { object.add("cache", Self.json(cache)) }
    object.add("limits", diagnostics.limits.map(Self.json))
    var network = JSONObject()
    if let tls = diagnostics.network.tls { network.add("tls", tls) }
    network.add("protocols", diagnostics.network.protocols)
    network.add("httpVersions", diagnostics.network.httpVersions)
    network.add("compressions", diagnostics.network.compressions)
    object.add("network", network)
    object.add(
      "findings",
      diagnostics.findings.map { finding in
        var member = JSONObject()
        member.add("severity", finding.severity.rawValue)
        member.add("message", finding.message)
        return member
      })
    return object.line
  }

  private static func json(_ support: Diagnostics.FormatSupport) -> JSONObject {
    var member = JSONObject()
    member.add("format", support.format.rawValue)
    member.add("reader", support.reader.rawValue)
    if let problem = support.readingProblem { member.add("readingProblem", problem) }
    member.add("written", support.isWritten)
    if let problem = support.writingProblem { member.add("writingProblem", problem) }
    return member
  }

  private static func json(_ cache: CacheExamination) -> JSONObject {
    var member = JSONObject()
    member.add("directory", cache.directory)
    member.add("exists", cache.isThere)
    member.add("thumbnails", cache.contents.thumbnails)
    member.add("sources", cache.contents.sources)
    member.add("bytes", cache.contents.payloadBytes)
    member.add("fileBytes", cache.contents.fileBytes)
    if let fileSystem = cache.fileSystem { member.add("fileSystem", fileSystem) }
    member.add("network", cache.isOnNetwork)
    if let free = cache.freeBytes { member.add("freeBytes", free) }
    return member
  }

  private static func json(_ limit: Diagnostics.Limit) -> JSONObject {
    var member = JSONObject()
    member.add("name", limit.name)
    member.add("value", limit.value)
    member.add("unit", limit.unit.rawValue)
    member.add("origin", limit.origin.rawValue)
    return member
  }
}
