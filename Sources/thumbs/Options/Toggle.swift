import ArgumentParser

/// The value of an on/off option.
enum Toggle: String, ExpressibleByArgument, CaseIterable {
  case on, off
}
