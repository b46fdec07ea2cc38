import Foundation

/// The limit of open files and sockets of this process.
enum DescriptorLimit {
  /// More than the connections and files of a server.
  private static let wanted: rlim_t = 65_536

  /// Raises the soft limit as far as it is needed and allowed: its default is less than a server's connections take.
  /// Returns the limit.
  @discardableResult static func raise() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return Int(wanted) }
    limit.rlim_cur = max(limit.rlim_cur, min(wanted, limit.rlim_max))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }
}
