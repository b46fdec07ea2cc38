import ArgumentParser
import FolderConversion
import Foundation
import Synchronization
import ThumbnailCore
import Thumbnailer

/// One run of `thumbs convert`: consumes the library's results and prints them.
final class ConvertRun: Sendable {
  /// Whether thumbnails without pictures are removed, or only counted.
  enum Removal {
    case none, counted, asked, unasked
  }

  private let options: FolderConverter.Options
  private let removal: Removal
  private let stays: Bool
  // Read once, as reading them from the options is slow.
  private let (printsJSON, isQuiet, showsProgress): (Bool, Bool, Bool)
  private let console = Console.standard
  private let progress: ProgressLine
  private let interruption = Interruption()
  /// The number of inputs with a message about their names.
  private let namesSaid = Atomic(0)
  /// The most such messages of a kind that are printed.
  private static let mostShown = 20

  /// - Parameter stays: Whether to convert what changes, too, until a signal comes.
  init(
    _ options: FolderConverter.Options, removal: Removal, report: ReportOptions, stays: Bool = false
  ) {
    (self.options, self.removal, self.stays) = (options, removal, stays)
    (printsJSON, isQuiet, showsProgress) = (report.json, report.quiet, report.showsProgress)
    progress = ProgressLine(title: "convert")
  }

  /// Runs to the end, or to Ctrl-C, prints the summary and returns the exit status.
  func run() async throws -> ExitCode {
    do {
      return try await interruption.cancelling { [self] in stays ? try await watch() : try await convert() }
    } catch let error as ConversionError {
      if let signal = interruption.signal { return .stopped(by: signal) }
      if case .collisions(let collisions) = error { complain(collisions) }
      throw CommandFailure(error)
    } catch {
      throw CommandFailure(error, keeping: "what was converted is kept")
    }
  }

  private func convert() async throws -> ExitCode {
    if showsProgress { progress.start() }
    let conversion: Conversion
    do throws(ConversionError) {
      conversion = try await FolderConverter(options).start()
    } catch {
      await progress.stop()
      throw error
    }
    progress.update { ($0.expected, $0.downloadedBytes) = (conversion.count, nil) }
    complainOfPatterns(conversion)
    var failure: (any Error)?
    var inTheWay: [RawPath] = []
    do {
      for await result in conversion { try take(result) }
      if interruption.signal == nil {
        inTheWay = try await writePages(conversion)
        // It would be drawn over a question.
        await progress.stop()
        try await deleteOrphans(conversion, removal)
      }
    } catch {
      failure = error
    }
    let summary = await conversion.finish()
    await progress.stop()
    if let failure { throw failure }
    let status = try end(summary)
    return status == .success && !inTheWay.isEmpty ? .someFailed : status
  }

  private func complainOfPatterns(_ conversion: Conversion) {
    for message in conversion.unusedPatterns(isQuiet: isQuiet) { console.complain(Advice.withOptions(message)) }
  }

  /// Writes the pages of a site, and returns the files that are in their way.
  private func writePages(_ conversion: Conversion) async throws -> [RawPath] {
    guard let inTheWay = try await conversion.writePages() else {
      console.complain("pages stay, as folders are missing; see --exclude")
      return []
    }
    for path in inTheWay.prefix(Self.mostShown) {
      console.complain(
        "\(path) is in the way, not as thumbs wrote it; move it, or give another --output")
    }
    return inTheWay
  }

  /// Converts the folders, and then what changes in them, until a signal comes.
  private func watch() async throws -> ExitCode {
    let watch = try await FolderConverter(options).watch()
    var failure: (any Error)?
    do {
      try await withThrowingTaskGroup { group in
        group.addTask { [self] in try await takeAll(of: watch) }
        group.addTask { [self] in try await takeChanges(of: watch) }
        try await group.waitForAll()
      }
    } catch {
      failure = error
    }
    await watch.finish()
    if let failure { throw failure }
    if !isQuiet { console.complain(Interruption.message) }
    return interruption.signal.map { .stopped(by: $0) } ?? .success
  }

  private func takeAll(of watch: FolderWatch) async throws {
    complainOfPatterns(watch.everything)
    try printSummary(await consume(watch.everything, removal) { _ in true })
    if let reason = watch.reasonToPoll { console.complain(reason) }
    if !isQuiet, interruption.signal == nil { console.complain("watching; Ctrl-C ends it") }
  }

  private func takeChanges(of watch: FolderWatch) async throws {
    while true {
      let changes: Conversion
      do throws(ConversionError) {
        guard let next = try await watch.next() else { return }
        changes = next
      } catch .collisions(let collisions) {
        complain(collisions)
        continue
      }
      let summary = try await consume(changes, removal == .none ? .none : .unasked) {
        [.converted, .failed].contains($0.status)
      }
      if !printsJSON, !isQuiet, summary.converted + summary.failed + summary.removed > 0 {
        try console.print("\(summary.converted) made, \(summary.failed) failed, \(summary.removed) removed")
      }
    }
  }

  /// Takes the results of one conversion to its end, whatever happens.
  private func consume(
    _ conversion: Conversion, _ removal: Removal, where isTold: (ConversionResult) -> Bool
  ) async throws -> ConversionSummary {
    do {
      for await result in conversion where isTold(result) { try take(result) }
      if interruption.signal == nil { try await deleteOrphans(conversion, removal) }
    } catch {
      _ = await conversion.finish()
      throw error
    }
    let summary = await conversion.finish()
    complainOfUnremoved(summary)
    if let failure = summary.failure { throw failure }
    return summary
  }

  private func printSummary(_ summary: ConversionSummary) throws {
    if printsJSON {
      try console.print(summary.json(isDryRun: options.isDryRun).summaryLine)
    } else if !isQuiet {
      try console.print(summary.text(isDryRun: options.isDryRun))
    }
  }

  private func complainOfUnremoved(_ summary: ConversionSummary) {
    if !summary.kept.isEmpty {
      let names = summary.kept.prefix(Self.mostShown).map { options.output.appending($0.bytes).description }
      let rest = summary.kept.count > names.count ? ", …" : ""
      let stay = names.count == 1 ? "stays" : "stay"
      console.complain(
        "\(summary.kept.count.of("file")) of pictures that are gone or left out \(stay) in \(options.output), changed "
          + "since or of no known run: \(names.joined(separator: ", "))\(rest); look, then remove "
          + (names.count == 1 ? "it" : "them"))
    }
    guard summary.unremoved > 0 else { return }
    console.complain("\(summary.unremoved.of("thumbnail")) could not be removed: look at the rights of their folders")
  }

  private func take(_ result: ConversionResult) throws {
    var result = result
    if let message = result.failure?.message { result.failure?.message = Advice.withOptions(message) }
    let line = ConversionLine(result, outputFolder: options.output)
    if printsJSON {
      try console.printSoon(line.json.line)
    } else if result.status == .failed, let failure = result.failure {
      console.complain("\(result.source): \(failure.message)")
    } else if result.isPlanned {
      for output in result.outputs { try console.printSoon("would write \(options.output)/\(output.path)") }
    }
    // The pages of a site lead to its files.
    if !printsJSON, !isQuiet, options.site == nil { sayNames(result, line) }
    guard showsProgress else { return }
    progress.update {
      $0.done += 1
      $0.failed += result.status == .failed ? 1 : 0
    }
  }

  /// Prints how thumbnails are named because of other images; only for the first inputs concerned.
  private func sayNames(_ result: ConversionResult, _ line: ConversionLine) {
    guard result.status != .current, let names = line.names else { return }
    let count = namesSaid.add(1, ordering: .relaxed).newValue
    if count <= Self.mostShown { console.complain(names) }
    if count == Self.mostShown + 1 { console.complain("…; --json names all of them") }
  }

  private func deleteOrphans(_ conversion: Conversion, _ removal: Removal) async throws {
    if removal == .none { return }
    var orphans = await conversion.allOrphans()
    let away = orphans.filter { $0.mayBeAway && !$0.outputs.isEmpty }
    orphans.removeAll(where: \.mayBeAway)
    if let first = away.first, removal != .counted {
      let what =
        "\(away.count.of("picture")), such as \(first.source), whose folder is empty or on another disk than before"
      if removal != .asked || options.isDryRun {
        let advice = options.isOfDesktop ? "" : " Without --yes, --delete-orphans asks"
        console.complain("thumbnails stay of \(what): is a disk missing?\(advice)")
      } else if ask("remove the thumbnails of \(what)?") {
        orphans += away
      }
    }
    let count = orphans.reduce(0) { $0 + $1.outputs.count }
    if removal == .counted {
      conversion.keepChanged(orphans)
      let count = (orphans + away).reduce(0) { $0 + $1.outputs.count }
      if count == 0 { return }
      return console.complain(
        "\(options.output) still has \(count.of("file")) of earlier runs; --delete-orphans removes what is left")
    }
    let what = "\(count.of("thumbnail")) in \(options.output) whose pictures are gone, left out or have others now"
    if options.isDryRun, !printsJSON {
      for path in orphans.flatMap(\.outputs) { try console.printSoon("would remove \(options.output)/\(path)") }
      return count > 0 ? console.complain("would remove \(what)") : ()
    }
    guard options.isDryRun || count == 0 || removal == .unasked || ask("remove \(what)?") else { return }
    let removed = options.isDryRun ? orphans.filter { !$0.outputs.isEmpty } : await conversion.remove(orphans)
    if !printsJSON { return }
    for orphan in removed {
      let line = ConversionLine.removal(orphan, from: options.output, isDryRun: options.isDryRun).line
      try console.printSoon(line)
    }
  }

  private func ask(_ question: String) -> Bool { console.ask(question) { interruption.signal != nil } }

  /// Prints the first name collisions.
  private func complain(_ collisions: [NameCollision]) {
    for collision in collisions.prefix(Self.mostShown) { console.complain(collision.message) }
    if collisions.count > Self.mostShown { console.complain("… and \(collisions.count - Self.mostShown) more") }
  }

  private func end(_ summary: ConversionSummary) throws -> ExitCode {
    if let failure = summary.failure { console.complain(failure.message) }
    let signal = interruption.signal
    if signal != nil, !isQuiet { console.complain(Interruption.message) }
    try printSummary(summary)
    if let signal { return .stopped(by: signal) }
    if let failure = summary.failure { return failure.exitCode }
    if summary.pictures == 0, !isQuiet {
      let isKept = removal != .none && !options.emptyFolders.isEmpty
      let kept = isKept ? "; nothing was removed, since a disk may be away" : ""
      console.complain("no picture was found; check the paths, and what --include and --exclude leave of them\(kept)")
    }
    complainOfUnremoved(summary)
    return summary.failed + summary.unremoved + summary.kept.count > 0 ? .someFailed : .success
  }

}
