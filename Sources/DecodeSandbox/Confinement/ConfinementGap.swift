import CSandbox
import ThumbnailCore

/// A part of a helper's confinement that a machine lacks.
public struct ConfinementGap: Sendable, Equatable, Codable {
  /// A part of the confinement.
  public enum Part: String, Sendable, Codable, CaseIterable {
    /// The list of system calls that a helper may make: seccomp.
    case systemCalls
    /// The list of files that a helper may read: Landlock.
    case files
    /// A user, a network and an IPC namespace of its own: a second protection behind the list of system calls.
    case namespaces
  }

  /// The missing part.
  public var part: Part
  /// The kernel's reason.
  public var reason: String

  /// Whether a broken helper could do harm without this part.
  public var isGrave: Bool { part != .namespaces }

  init(_ part: Part, _ failure: SystemFailure) { (self.part, reason) = (part, failure.reason) }
}

extension ConfinementGap: CustomStringConvertible {
  /// One line without advice.
  public var description: String {
    switch part {
    case .systemCalls: "helpers may make any system call: this kernel has no seccomp filter (\(reason))"
    case .files: "helpers may read all that their user may read: this kernel has no Landlock (\(reason))"
    case .namespaces: "helpers have no namespaces of their own (\(reason))"
    }
  }
}

extension DecodeIsolation {
  /// The grave gaps of this machine's kernel; a helper that finds more reports them when it starts.
  public static var gapsOfThisMachine: [ConfinementGap] {
    var gaps: [ConfinementGap] = []
    if csandbox_has_filters() != 0 { gaps.append(ConfinementGap(.systemCalls, .last)) }
    if csandbox_landlock_version() < 1 { gaps.append(ConfinementGap(.files, .last)) }
    return gaps
  }
}
