import ArgumentParser

/// The value of an option that is either on or off.
enum Toggle: String, ExpressibleByArgument, CaseIterable {
  case on, off
}
