import ArgumentParser
import Foundation
import ThumbnailWorker
import ThumbnailCore
import Thumbnailer

/// The destination of a worker's thumbnails.
struct WorkerOutputOptions: ParsableArguments {
  /// The most lines of a shard, whose keys are remembered.
  private static let largestShard = 1_000_000

  @Option(
    "DIR", "Write the thumbnails as files into this folder, named after their keys.", name: .shortAndLong,
    .naming("a folder"))
  var output: String?

  @Option(
    "DIR", "Write the thumbnails into tar archives in this folder, as WebDataset reads them: 00000.tar, 00001.tar, …",
    .naming("a folder"))
  var tar: String?

  @Flag(help: "Put the thumbnails into the answers, in Base64.")
  var inline = false

  @Flag(
    help: ArgumentHelp(
      "With --inline, put the whole files of URLs into the answers, too.", visibility: .hidden))
  var originals = false

  @Option("N", "The lines of a shard. (default: 10000)", .within(1...largestShard))
  var shardSize: Int?

  func validate() throws {
    try checkOneOf([("--output", output != nil), ("--tar", tar != nil), ("--inline", inline)])
    if originals, !inline { throw ValidationError("--originals goes with --inline alone: give that, too") }
  }

  /// Sets the destination of a worker.
  func apply(to options: inout ThumbnailWorker.Options) {
    if let output { options.destination = .folder(RawPath(output)) }
    if let tar { options.destination = .shards(RawPath(tar), size: shardSize ?? 10_000) }
    if inline { options.destination = .inline }
    options.givesOriginals = originals
  }
}

/// The contents that lines may have, and the number that may fail.
struct WorkerLineOptions: ParsableArguments {
  @Flag(help: "Refuse lines that name files: for lines that strangers have written.")
  var noPaths = false

  @Option(
    "NAME,…",
    "Refuse pictures whose server forbids their use by one of these directives of X-Robots-Tag, such as noai.",
    visibility: .hidden)
  var disallowedHeaderDirectives: String?

  @Option(
    "N|P%",
    "End with status 3 once more lines have failed, or more than a part of at least 100. (default: no limit)")
  var maxFailures: FailureLimit?

  @Option(
    "SECONDS", "How long connecting may take, and how long a server may send nothing. (default: 10, and 20)",
    .within(0.1...86_400, "give 0.1 to 86400 seconds"), visibility: .hidden)
  var timeout: Double?

  /// The directives that forbid a picture.
  var disallowedDirectives: [String] {
    disallowedHeaderDirectives?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } ?? []
  }

  func apply(to options: inout ThumbnailWorker.Options) {
    options.allowsPaths = !noPaths
    options.failureLimit = maxFailures
  }
}
