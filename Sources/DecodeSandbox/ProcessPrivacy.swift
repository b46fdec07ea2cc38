import CSandbox
import Glibc

/// Hides the contents of a process from other processes of the same user. `thumbs` does all of this when it starts; a
/// program that uses the library decides for itself.
package enum ProcessPrivacy {
  /// Prevents other processes of the user from reading this one: `/proc/PID/environ`, `/proc/PID/mem`, its descriptors.
  ///
  /// The process leaves no core dump any more, and debuggers and profilers need root to attach to it. Call it first,
  /// and leave it out of builds that are debugged.
  package static func forbidInspection() { _ = csandbox_set_undumpable() }

  /// Takes variables out of the environment, and overwrites their values in `/proc/PID/environ`, where they would
  /// otherwise stay.
  ///
  /// Call it before other threads run: they may be reading the environment.
  ///
  /// - Parameter names: The variables' names; those that are not set are left out of the result.
  package static func takeVariables(_ names: [String]) -> [String: String] {
    var taken: [String: String] = [:]
    for name in names {
      guard let value = getenv(name) else { continue }
      taken[name] = String(cString: value)
      memset(value, 0, strlen(value))
      unsetenv(name)
    }
    return taken
  }

  /// Overwrites variables in `/proc/PID/environ`, and leaves them set for libraries that read them later. Call it
  /// before other threads run, too.
  package static func hideVariables(_ names: [String]) {
    for (name, value) in takeVariables(names) { setenv(name, value, 1) }
  }
}
