import Synchronization

/// A value that is made at its first use, once for all copies of what has it. It follows from the rest, so all are equal.
package final class Memo<Value: Sendable>: Sendable, Equatable {
  private let made = Mutex<Value?>(nil)

  package init() {}

  /// The value, made if it is not yet.
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
