import CSandbox
import Glibc
import ThumbnailCore

/// Landlock: the kernel's list of files that this process may open.
enum FileRules {
  /// Refuses everything but reading at these paths, in this thread and in those that it starts.
  static func enforce(reading paths: [String]) throws(SystemFailure) {
    let version = csandbox_landlock_version()
    guard version > 0 else { throw .last }
    let descriptor = csandbox_landlock_rules(version)
    guard descriptor >= 0 else { throw .last }
    let rules = FileDescriptor(owning: descriptor)
    for path in paths {
      let place = open(path, csandbox_open_path | O_CLOEXEC)
      guard place >= 0 else { continue }
      let file = FileDescriptor(owning: place)
      var status = stat()
      guard fstat(file.rawValue, &status) == 0 else { continue }
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      guard csandbox_landlock_allow_reading(rules.rawValue, file.rawValue, isFolder ? 1 : 0) == 0 else { throw .last }
    }
    guard csandbox_landlock_enforce(rules.rawValue) == 0 else { throw .last }
  }
}
