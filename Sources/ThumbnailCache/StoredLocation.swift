/// An address as it stands in the database: of one that begins with `https://` and its host only the path, since the host
/// has a column of its own.
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
