package import FoundationEssentials

/// A host, optionally with a port. Credentials belong to one.
package struct HostName: Hashable, Sendable {
  /// The name or address in lower case, an IPv6 address without its brackets.
  package let host: String
  /// The port; nil for any.
  package let port: Int?

  /// Reads `example.org`, `localhost:8080` or `[::1]:80`. Nil for anything else, such as a URL or a path.
  package init?(parsing text: String) {
    var host = Substring(text.lowercased())
    var port: Int?
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return nil }
      let rest = host[host.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      port = rest.isEmpty ? nil : Int(rest.dropFirst())
      guard rest.isEmpty || port != nil else { return nil }
      host = host[host.index(after: host.startIndex)..<end]
      guard host.contains(":") else { return nil }
    } else if let colon = host.firstIndex(of: ":") {
      guard let number = Int(host[host.index(after: colon)...]) else { return nil }
      port = number
      host = host[..<colon]
    }
    let isName = host.utf8.allSatisfy { byte in
      byte > 0x7F || UInt8(ascii: "0") <= byte && byte <= UInt8(ascii: ":")
        || UInt8(ascii: "a") <= byte && byte <= UInt8(ascii: "z")
        || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")].contains(byte)
    }
    guard !host.isEmpty, isName, port.map({ (1...65535).contains($0) }) ?? true else { return nil }
    self.host = String(host)
    self.port = port
  }

  /// The host and port of a URL; nil for one without a host.
  package init?(of url: URL) {
    guard let host = url.host(percentEncoded: false), !host.isEmpty else { return nil }
    self.host = host.lowercased()
    port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
  }

  /// Whether a URL points to this host. Subdomains do not match.
  package func matches(_ url: URL) -> Bool {
    guard let host = url.host(percentEncoded: false) else { return false }
    return matches(host: host, port: url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80))
  }

  /// Whether it matches that host and port.
  package func matches(host: String, port: Int) -> Bool {
    let plain = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    return plain.lowercased() == self.host && (self.port ?? port) == port
  }
}
