/// An address in its stored form: without the prefix `https://` and host, since the host has its own column.
enum StoredLocation {
  static func shortened(_ location: String, host: String) -> String {
    let origin = "https://" + host
    guard !host.isEmpty, location.hasPrefix(origin + "/") else { return location }
    return String(location.dropFirst(origin.count))
  }

  static func whole(_ stored: String, host: String) -> String {
    stored.hasPrefix("/") ? "https://\(host)\(stored)" : stored
  }
}
