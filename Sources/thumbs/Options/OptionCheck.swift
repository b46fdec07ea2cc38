import ArgumentParser
import Thumbnailer

/// The checks that many options need, each with its message. Nothing is checked where no value is given.
enum OptionCheck {
  /// Refuses a value that is not usable, and tells which are.
  static func value<Value>(
    _ option: String, _ value: Value?, _ advice: String, _ isUsable: (Value) -> Bool
  ) throws(ValidationError) {
    if let value, !isUsable(value) { throw ValidationError("\(option) \(value) cannot be used: \(advice)") }
  }

  /// Refuses a number that is too small or too large.
  static func count(
    _ option: String, _ number: Int?, atLeast least: Int = 1, atMost most: Int = .max
  ) throws(ValidationError) {
    try value(option, number, "give at least \(least)") { $0 >= least }
    try value(option, number, "give at most \(most)") { $0 <= most }
  }

  /// Refuses a size with which nothing can be done.
  static func size(_ option: String, _ size: ByteSize?, atLeastMebibytes least: Int) throws(ValidationError) {
    if let size, size < .mebibytes(least) {
      throw ValidationError("\(option) \(size) is too little to work with: give at least \(least)MiB")
    }
  }

  /// Refuses an empty text, and tells what to name.
  static func notEmpty(_ option: String, _ text: String?, _ advice: String) throws(ValidationError) {
    if text == "" { throw ValidationError("\(option) is empty: name \(advice)") }
  }

  /// Refuses more than one of several options.
  static func oneOf(
    _ options: [(name: String, isGiven: Bool)], _ advice: String = "give one of them"
  ) throws(ValidationError) {
    let given = options.filter(\.isGiven).map(\.name)
    if given.count > 1 { throw ValidationError("\(given[0]) and \(given[1]) exclude each other: \(advice)") }
  }
}
