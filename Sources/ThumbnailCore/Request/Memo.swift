import Synchronization

/// A value that is computed at its first use, once for all copies of its owner. All memos are equal, because the value
/// follows from the owner's other properties.
package final class Memo<Value: Sendable>: Sendable, Equatable {
  private let made = Mutex<Value?>(nil)

  package init() {}

  /// The value, computed at the first call.
  package func value(_ make: () -> Value) -> Value {
    made.withLock { made in
      if let made { return made }
      let value = make()
      made = value
      return value
    }
  }

  package static func == (one: Memo, other: Memo) -> Bool { true }
}
