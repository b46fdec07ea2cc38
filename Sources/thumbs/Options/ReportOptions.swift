import ArgumentParser
import Foundation

/// The amount and the form of the output.
struct ReportOptions: ParsableArguments {
  @Flag(help: "Print one JSON object a line for each picture, and the summary as the last.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print errors only.")
  var quiet = false

  @Flag(help: ArgumentHelp("Draw no progress line.", visibility: .hidden))
  var noProgress = false

  @Flag(
    name: .shortAndLong,
    help: ArgumentHelp("Log what happens at each stage, on stderr, without the queries of URLs.", visibility: .hidden))
  var verbose = false

  /// Whether to show the progress line: stderr is a terminal, and nothing else is written there continuously.
  var showsProgress: Bool { !quiet && !noProgress && !verbose && isatty(STDERR_FILENO) == 1 }
}
