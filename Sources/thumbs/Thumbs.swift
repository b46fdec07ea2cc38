import ArgumentParser
import CLibC
import Foundation
import DecodeSandbox
import Thumbnailer

/// The command `thumbs`: parses, calls the library, prints.
@main
struct Thumbs: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbs",
    abstract: "Makes thumbnails of pictures from the web and from folders, ahead of time and in bounded memory.",
    discussion: """
      Examples:
        thumbs prefetch --query lake --provider folder:Pictures
        thumbs prefetch --urls list.txt --size 200x200 --size 400x400
        thumbs convert photos --output small
        thumbs site Pictures --output www
        thumbs search --query lake --provider folder:Pictures
        thumbs serve Pictures
        thumbs worker --tar shards < pictures.jsonl
        thumbs get https://example.org/a.jpg --size 400x300 --output small.jpg
        thumbs cache stats
        thumbs doctor

      Exit status:
        0    all done
        1    some pictures failed, the others are done
        3    more lines of a worker failed than --max-failures allows
        64   wrong usage
        69   the source could not be reached and nothing was fetched
        73   the output cannot be written, or the port of serve not be used
        130  stopped by Ctrl-C (143: by SIGTERM), with all finished work kept
      """,
    version: ThumbnailPipeline.version,
    subcommands: [
      PrefetchCommand.self, SearchCommand.self, ConvertCommand.self, SiteCommand.self, DesktopCommand.self,
      GetCommand.self, CacheCommand.self, ServeCommand.self, WorkerCommand.self, SignCommand.self, DoctorCommand.self,
    ])

  static func main() async {
    // This process may be a decode helper, started by ourselves.
    DecodeHelper.serveIfAsked()
    ProcessPrivacy.forbidInspection()
    SecretVariables.hide()
    BundledLibraries.announce()
    setUpProcess()
    prepareHelper()
    let status = await run(Array(CommandLine.arguments.dropFirst()))
    if status == .success { return }
    // At once: workers may still load libraries, some of which abort at an orderly end if they are not set up completely.
    fflush(nil)
    _exit(status.rawValue)
  }

  /// Runs a command line, and returns the exit status. Help and version go to stdout, every other end that was not
  /// reported is one line on stderr.
  static func run(_ arguments: [String]) async -> ExitCode {
    do {
      var command = try parseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
      try Console.standard.finishPrinting()
      return .success
    } catch {
      return report(error, of: arguments)
    }
  }

  private static func report(_ error: any Error, of arguments: [String]) -> ExitCode {
    let console = Console.standard
    try? console.finishPrinting()
    let failure = CommandFailure(thrown: error, arguments: ["thumbs"] + arguments)
    guard failure.status == .success, let text = failure.message else { return console.report(failure) }
    do { try console.print(text) } catch { return report(error, of: arguments) }
    return .success
  }

  /// Has a helper start while a command that will need one reads its arguments.
  private static func prepareHelper() {
    let words = CommandLine.arguments.dropFirst()
    guard ["convert", "desktop", "get", "site"].contains(words.first), words.count > 1,
      !words.contains(where: { $0 == "off" || $0 == "--isolate=off" })
    else { return }
    DecodeHelper.prepare()
  }

  /// Process-wide settings: the handling of broken pipes, and the allocator.
  private static func setUpProcess() {
    // Turns a write to a closed pipe or socket, as with `| head`, into an error instead of a fatal signal.
    signal(SIGPIPE, SIG_IGN)
    DescriptorLimit.raise()
    // Two heaps: with one for each thread, memory freed on one is not reused by others, and the peak grows with the
    // number of images; with a single one, workers wait for each other. (The library itself returns large blocks to the
    // system at once.)
    _ = mallopt(M_ARENA_MAX, 2)
    _ = mallopt(M_TRIM_THRESHOLD, 1 << 20)
  }
}
