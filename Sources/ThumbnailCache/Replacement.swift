import Foundation
import HTTPSemantics

/// What happens to the other stored thumbnails of an image when some are stored.
package enum Replacement: Sendable {
  /// They stay, being of the same version.
  case none
  /// They are removed, being of an earlier version.
  case all
  /// They are removed if their responses show that they are of an earlier version. This is decided in the transaction
  /// that stores the new ones, since another process may have stored some after the look-up. `report` is called once
  /// they are gone, on any thread.
  case ifOutdated(by: FreshnessRule, report: @Sendable () -> Void)

  /// Whether they are known to be of an earlier version.
  package var isAll: Bool { if case .all = self { true } else { false } }
}
