import ArgumentParser

/// The value of an option that is on unless it is turned off.
enum Toggle: String, ExpressibleByArgument, CaseIterable {
  case on, off
}
