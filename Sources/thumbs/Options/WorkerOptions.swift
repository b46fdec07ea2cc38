import ArgumentParser
import Foundation
import ThumbnailWorker
import ThumbnailCore
import Thumbnailer

/// Where the thumbnails of a worker go.
struct WorkerOutputOptions: ParsableArguments {
  /// The most lines of a shard, whose keys are remembered.
  private static let largestShard = 1_000_000

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write the thumbnails as files into this folder, named after their keys.", valueName: "DIR"))
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Write the thumbnails into tar archives in this folder, as WebDataset reads them: 00000.tar, 00001.tar, …",
      valueName: "DIR"))
  var tar: String?

  @Flag(help: "Put the thumbnails into the answers, in Base64.")
  var inline = false

  @Flag(
    help: ArgumentHelp(
      "With --output, write what is known of a picture and its caption beside it: KEY.json, KEY.txt.",
      visibility: .hidden))
  var sidecars = false

  @Option(help: ArgumentHelp("The lines of a shard. (default: 10000)", valueName: "N"))
  var shardSize: Int?

  @Option(
    help: ArgumentHelp(
      "The number of the first shard. Keys of lines without one begin at that many shards. (default: 0)",
      valueName: "N", visibility: .hidden))
  var firstShard: Int?

  func validate() throws {
    try OptionCheck.oneOf([("--output", output != nil), ("--tar", tar != nil), ("--inline", inline)])
    try OptionCheck.notEmpty("--output", output, "a folder")
    try OptionCheck.notEmpty("--tar", tar, "a folder")
    try OptionCheck.count("--shard-size", shardSize, atMost: Self.largestShard)
    try OptionCheck.count("--first-shard", firstShard, atLeast: 0, atMost: 1_000_000_000)
    if sidecars, output == nil { throw ValidationError("--sidecars goes with --output alone: shards have them anyway") }
  }

  /// Sets where a worker writes.
  func apply(to options: inout ThumbnailWorker.Options) {
    let (size, first) = (shardSize ?? 10_000, firstShard ?? 0)
    options.firstNumber = size * first
    if let output { options.destination = .folder(RawPath(output), sidecars: sidecars) }
    if let tar { options.destination = .shards(RawPath(tar), size: size, first: first) }
    if inline { options.destination = .inline }
  }
}

/// What lines may hold, and how many may fail.
struct WorkerLineOptions: ParsableArguments {
  @Flag(help: "Refuse lines that name files: for lines that strangers have written.")
  var noPaths = false

  @Option(
    help: ArgumentHelp(
      "The longest line; a longer one is answered, not read. (default: 8MiB, or a sixteenth of the memory budget if less)",
      valueName: "SIZE", visibility: .hidden), transform: ByteSize.option)
  var maxLine: ByteSize?

  @Option(
    help: ArgumentHelp(
      "End with status 3 once more lines have failed, or more than a part of at least 100. (default: no limit)",
      valueName: "N|P%"), transform: FailureLimit.option)
  var maxFailures: FailureLimit?

  func validate() throws {
    try OptionCheck.count("--max-line", maxLine?.bytes)
  }

  func apply(to options: inout ThumbnailWorker.Options) {
    options.allowsPaths = !noPaths
    if let maxLine { options.longestLine = maxLine }
    options.failureLimit = maxFailures
  }
}

extension FailureLimit {
  /// Parses `100` or `5%`, or throws an error that explains the syntax.
  static func option(_ text: String) throws -> FailureLimit {
    if text.hasSuffix("%"), let part = Double(text.dropLast()), (0...100).contains(part) { return .percent(part) }
    if let count = Int(text), count >= 0 { return .count(count) }
    throw ValidationError("write a number such as 100, or a part such as 5%")
  }
}
