import Foundation
import HTTPSemantics
import Synchronization

/// The value of `Date`, formatted once a second.
final class DateHeader: Sendable {
  static let shared = DateHeader()

  private let state = Mutex((second: 0, text: ""))

  var value: String {
    let second = time(nil)
    return state.withLock { state in
      if state.second != second {
        state = (second, HTTPDate.text(Date(timeIntervalSince1970: Double(second))))
      }
      return state.text
    }
  }
}
